import { histories } from './chain'
import { explore, type Model, nothing, type Walk } from './explorer'
import { walkOrders } from './order'
import { orderFaults, scopeOf } from './order-faults'
import { payoutModel } from './payout'
import { payoutFaults } from './payout-faults'
import { periodModel } from './period'
import { periodFaults } from './period-faults'
import { refundFaults, refundModel } from './refund'
import { smallInsider, smallOrders, smallPayout, smallPlan, smallRefunds } from './scopes'
import { strangersFaults } from './strangers-faults'

describe('walked in small scopes, by the services’ own rules', () => {
  test.each(smallOrders)('an order: %s', (_, scope, commands) => {
    const walk = nothing()
    walkOrders(histories(scope), commands, walk)
    expectNothing(walk)
  })

  test.each(['leave', 'pause', 'cancel'] as const)('a plan that would %s: every order of reports and looks', whenUnpaid => {
    expectNothing(explore(periodModel({ ...smallPlan, whenUnpaid })))
  })

  test('two refunds to two payees, whatever the chain and our clock do', () => expectNothing(explore(refundModel(smallRefunds))))
  test('a payout address, with a thief among three', () => expectNothing(explore(payoutModel(smallPayout))))
  test('a payout address, with a thief who is an owner and has a session of another', () =>
    expectNothing(explore(payoutModel(smallInsider))))
})

describe('finds put back', () => {
  test.each(Object.entries(orderFaults))('%s', (_, fault) => {
    const walk = nothing()
    walkOrders([fault.history], scopeOf(fault), walk, fault.rules, true)
    expectFound(walk, fault.finds)
  })

  test.each(Object.entries(periodFaults))('%s', (_, { rules, finds, ...scope }) => {
    expectFound(explore(periodModel({ ...smallPlan, ...scope }, rules), { stopsAtFault: true }), finds)
  })

  test.each(Object.entries(payoutFaults))('%s', (_, { rules, scope = smallPayout, finds }) => {
    expectFound(explore(payoutModel(scope, rules), { stopsAtFault: true }), finds)
  })

  test.each(strangersFaults.filter(([, { isLong }]) => !isLong))('invented by a stranger: %s', (_, { walk, finds }) => {
    expectFound(walk(), finds)
  })

  // One way is longer than the other, so the walk does not end with the first level in which there is a fault.
  test.each(refundFaults)('$what', ({ view, finds }) => {
    expectFound(explore(refundModel({ ...smallRefunds, lifeS: 2 }, undefined, view), { statesMax: 20_000 }), finds)
  })
})

test('names the shortest path to a fault', () => {
  const counter: Model<number> = {
    start: 0,
    key: String,
    steps: state =>
      state < 5
        ? [
            { name: `add two to ${state}`, next: state + 2 },
            { name: `add one to ${state}`, next: state + 1 },
          ]
        : [],
    faults: state => (state === 4 ? ['four is reached'] : []),
  }
  expect(explore(counter).violations.get('four is reached')?.path).toEqual(['add two to 0', 'add two to 2'])
})

function expectNothing(walk: Walk): void {
  expect([...walk.violations].map(([fault, { path }]) => [fault, ...path])).toEqual([])
  expect(walk.isComplete).toBe(true)
  expect(walk.states).toBeGreaterThan(100)
}

function expectFound(walk: Walk, finds: RegExp): void {
  const found = [...walk.violations].find(([fault]) => finds.test(fault))
  expect({ found: [...walk.violations.keys()], path: found?.[1].path }).toEqual({
    found: expect.arrayContaining([expect.stringMatching(finds)]),
    path: expect.arrayContaining([expect.any(String)]),
  })
}
