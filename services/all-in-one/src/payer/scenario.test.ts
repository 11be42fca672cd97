import { paymentsOf, scenarioOf, scenarios } from './scenario'

test.each(scenarios.filter(({ centavos }) => centavos !== null))('an amount that ends in .$centavos is $name', ({ centavos, name }) => {
  expect(scenarioOf(`10.${centavos}`)?.name).toBe(name)
})

test('every other amount is paid in full, once', () => {
  for (const amount of ['150.00', '1.10', '2.50', '101.99']) {
    expect(scenarioOf(amount)).toBeUndefined()
    expect(paymentsOf(scenarioOf(amount)?.name, 5_000_001n)).toEqual([5_000_001n])
  }
})

test('what is sent makes less, more, twice or all of it', () => {
  const sent = Object.fromEntries(scenarios.map(scenario => [scenario.name, paymentsOf(scenario.name, 5_000_001n)]))
  expect(sent).toEqual({
    underpaid: [2_500_000n],
    overpaid: [6_000_001n],
    late: [5_000_001n],
    duplicate: [5_000_001n, 5_000_001n],
    halves: [2_500_000n, 2_500_001n],
    reorganised: [5_000_001n],
    blocked: [5_000_001n],
    after_cancel: [5_000_001n],
    wrong_token: [5_000_001n],
    slow_node: [5_000_001n],
    halted: [5_000_001n],
    no_rate: [],
  })
})
