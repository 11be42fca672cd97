import { createLink } from '@ponte/contracts'
import {
  chosenCentavos,
  type Link,
  type LinkedOrder,
  linkStatus,
  NO_ORDERS,
  newLink,
  type OpeningFacts,
  requireOpening,
  standingOrder,
} from './link'

const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 1, display_name: 'Padaria', payout_address: null }
const at = new Date('2026-11-20T12:00:00.000Z')
const link = (body: object = {}, change: Partial<Link> = {}): Link => ({
  ...newLink(
    { id: 'l', terms, payerToken: 't', createdBy: null },
    createLink.parse({ kind: 'invoice', brl_amount: '150.00', description: 'Consulting', ...body }),
    at,
  ),
  ...change,
})
const reusable = (body: object = {}) => link({ kind: 'reusable', ...body })
const order = (status: LinkedOrder['status'], id = 'o'): LinkedOrder => ({ id, status, expiresAt: at })
const facts = (change: Partial<OpeningFacts> = {}): OpeningFacts => ({ ...NO_ORDERS, open: 0, ...change })
const paid = facts({ paid: 1, paidBy: order('paid') })
const later = new Date('2026-11-21T12:00:00.000Z')

describe('the status of a link', () => {
  it.each([
    ['open', link(), facts()],
    ['open while an order of it waits', link(), facts({ payable: order('pending') })],
    ['overdue past its due date', link({ due_at: '2026-11-21T11:59:59.999Z' }), facts()],
    ['open at its due date', link({ due_at: '2026-11-21T12:00:00.000Z' }), facts()],
    ['paid, whenever that was', link({ due_at: '2026-11-20T12:00:00.000Z' }), paid],
    ['paid, also once it was ended', link({}, { endedAt: at }), paid],
    ['undecided with money of an order that it did not pay', link(), facts({ undecided: order('expired') })],
    ['ended, whatever is undecided', link({}, { endedAt: at }), facts({ undecided: order('expired') })],
    ['open: one that is reusable stays so when it is paid', reusable(), paid],
    ['open: late money of one payer ends no reusable link for the others', reusable(), facts({ undecided: order('expired') })],
    ['open below its number of payments', reusable({ max_payments: 2 }), paid],
    ['paid with its number of payments', reusable({ max_payments: 2 }), facts({ paid: 2 })],
  ] as const)('is %s', (name, one, known) => {
    expect(linkStatus(one, known, later)).toBe(name.split(/[ ,:]/)[0])
  })
})

describe('a payer of an invoice', () => {
  it('is led to the order that paid it before one that is open', () => {
    expect(standingOrder(link(), { ...paid, payable: order('pending', 'open') })?.id).toBe('o')
    expect(standingOrder(link(), facts({ payable: order('pending', 'open') }))?.id).toBe('open')
    expect(standingOrder(link(), facts({ newest: order('expired') }))).toBeNull()
  })

  it('of a reusable link is led to no other payer`s order', () => {
    expect(standingOrder(reusable(), { ...paid, payable: order('pending') })).toBeNull()
  })
})

describe('an order is opened', () => {
  it.each([
    ['by a link that is overdue', link({ due_at: '2026-11-20T12:00:00.000Z' }), facts()],
    ['by a reusable one that others pay', reusable(), facts({ paid: 5, open: 199 })],
  ] as const)('%s', (_, one, known) => {
    expect(() => requireOpening(one, known, later)).not.toThrow()
  })

  it.each([
    ['paid', link(), paid, 'is paid'],
    ['ended', link({}, { endedAt: at }), facts(), 'has ended this link'],
    ['undecided', link(), facts({ undecided: order('expired') }), 'has to decide about it'],
    ['crowded', reusable(), facts({ open: 200 }), 'wait for their payers'],
  ] as const)('by none that is %s', (_, one, known, message) => {
    expect(() => requireOpening(one, known, later)).toThrow(message)
  })
})

describe('its amount', () => {
  const free = link({ brl_amount: undefined, brl_amount_min: '10.00', brl_amount_max: '50.00' })
  it('is the link`s, however it is asked for', () => {
    expect([chosenCentavos(link(), undefined), chosenCentavos(link(), '150')]).toEqual([15_000n, 15_000n])
    expect(() => chosenCentavos(link(), '149.99')).toThrow('is fixed by this link: 150.00')
  })

  it.each(['10', '50.00', '33.33'])('may be %s between both bounds', amount => {
    expect(chosenCentavos(free, amount)).toBe(BigInt(Math.round(Number(amount) * 100)))
  })

  it.each(['9.99', '50.01', undefined])('may not be %s', amount => {
    expect(() => chosenCentavos(free, amount)).toThrow('must be chosen between 10.00 and 50.00')
  })
})

it.each([
  [{ brl_amount: undefined }, 'is missing, or both'],
  [{ brl_amount_min: '1.00', brl_amount_max: '2.00' }, 'goes without'],
  [{ brl_amount: undefined, brl_amount_min: '3.00', brl_amount_max: '2.00' }, 'must be at least brl_amount_min'],
  [{ kind: 'reusable', due_at: '2026-11-20T12:00:00.000Z' }, 'never due'],
  [{ max_payments: 3 }, 'an invoice is paid once'],
])('a link of %j is refused', (change, message) => {
  const { error } = createLink.safeParse({ kind: 'invoice', brl_amount: '150.00', description: 'Consulting', ...change })
  expect(error?.message).toContain(message)
})
