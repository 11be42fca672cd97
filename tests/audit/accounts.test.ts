import { type AccountBooks, accountDifferences } from './accounts'
import type { Row } from './rows'

const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour)).toISOString()
const merchant: Row = { id: 'm', version: 2, display_name: 'Padaria', payout_address: '0xAA', created_at: at(1), updated_at: at(2) }
const owner: Row = { id: 'a', merchant_id: 'm', role: 'owner', created_at: at(1), role_since: null }
const change = (sequence: number, hour: number, action: string, changed: string[]): Row => ({
  ...{ type: 'account.changed', merchant_id: 'm', sequence: String(sequence), created_at: at(hour) },
  body: JSON.stringify({
    type: 'account.changed',
    data: { id: '01a22849-e85a-75e7-a082-99255d5ca80f', action, changed, created_at: at(hour) },
  }),
})
const found = (more: Partial<AccountBooks>) =>
  accountDifferences({
    ...{ merchants: [merchant], members: [owner], apiKeys: [{ merchant_id: 'm', created_at: at(1) }], namedKeys: [], copies: {} },
    ...{ events: [change(1, 2, 'member.join', ['role:owner', 'pending_owner_change'])], now: Date.parse(at(12)) },
    isForgotten: () => false,
    ...more,
  })
const joined = (role: string): Row => ({ id: 'b', merchant_id: 'm', role, created_at: at(2), role_since: null })

it('an account is what was published of it', () => {
  expect(found({})).toEqual([])
  expect(found({ members: [owner, joined('viewer')] })).toEqual([])
})

it('who is to be an owner later is none before, and no one is beside the first', () => {
  expect(found({ members: [owner, joined('owner')] })).toEqual([expect.stringContaining('member b of merchant m is owner')])
  expect(found({ members: [owner, { ...owner, id: 'b' }] })).toEqual([expect.stringContaining('made by 2 owners')])
})

it('a key without its rotation is named, also of a merchant of which nothing is kept', () => {
  const apiKeys = [{ merchant_id: 'm', created_at: at(3) }]
  expect(found({ apiKeys })).toHaveLength(1)
  expect(found({ apiKeys, events: [] })).toHaveLength(1)
  expect(found({ apiKeys, events: [change(7, 4, 'merchant.update', [])] })).toHaveLength(1)
  // The dispatcher keeps events for three days at least.
  const events = [change(7, 4, 'merchant.update', [])]
  expect(found({ apiKeys, events, now: Date.parse(at(4)) + 4 * 86_400_000 })).toEqual([])
})

it('terms of one version are the same everywhere, and none is newer than the gateway has', () => {
  const copies = (more: Row) => ({
    copies: { orders: [{ id: 'm', version: 2, display_name: 'Padaria', payout_address: '0xaa', ...more }] },
  })
  expect(found(copies({}))).toEqual([])
  expect(found(copies({ payout_address: '0xbb' }))).toEqual([expect.stringContaining('payout_address: merchant m at orders')])
  expect(found(copies({ version: 3 }))).toHaveLength(1)
  expect(found(copies({ version: 1 }))).toHaveLength(1)
  expect(found({ ...copies({ version: 1 }), now: Date.parse(at(2)) })).toEqual([])
  expect(found({ copies: { orders: [{ id: 'n', version: 1 }] } })).toHaveLength(2)
  expect(found({ copies: { orders: [{ ...merchant }, { id: 'n', version: 1 }] }, isForgotten: id => id === 'n' })).toEqual([])
})
