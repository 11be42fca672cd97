import {
  activatePayout,
  approvePayout,
  cancelPayout,
  type Payout,
  payoutMessage,
  payoutWithoutUser,
  requestPayout,
  signPayout,
} from './payout-change'

const HOUR = 3_600_000
const guard = { delayMs: 24 * HOUR, unsignedDelayMs: 48 * HOUR }
const start = Date.parse('2026-11-20T12:00:00.000Z')
const after = (hours: number) => new Date(start + hours * HOUR)
const by = (id: string, isFresh = true, hours = 0) => ({ id, userId: 'user', at: after(hours), isFresh })
const [OLD, NEW, OTHER] = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002', '0x3']
const none: Payout = { payoutAddress: null, payoutIsContract: false, clearedPayoutAddress: null, pendingPayout: null }
const set = requestPayout(none, OLD, by('first', false), guard)
const changing = requestPayout(set, NEW, by('a'), guard)

test('the first address is in force at once, also long after the login', () => {
  expect(set).toEqual({ ...none, payoutAddress: OLD })
})

test('another one waits two days, or one when its key signed, and is in force then', () => {
  expect(changing).toMatchObject({ payoutAddress: OLD, pendingPayout: { address: NEW, activatesAt: after(48) } })
  const signed = signPayout(changing, 'a', after(1), guard)
  expect(signed).toMatchObject({ payoutAddress: OLD, pendingPayout: { isSigned: true, activatesAt: after(24) } })
  expect(activatePayout(signed, after(23))).toBe(signed)
  expect(activatePayout(signed, after(24))).toEqual({ ...none, payoutAddress: NEW })
  expect(signPayout(changing, 'a', after(30), guard)).toEqual({ ...none, payoutAddress: NEW })
})

test('changing and clearing want a fresh login', () => {
  expect(() => requestPayout(set, NEW, by('a', false), guard)).toThrow(expect.objectContaining({ code: 'fresh_login_required' }))
  expect(() => requestPayout(set, null, by('a', false), guard)).toThrow(expect.objectContaining({ code: 'fresh_login_required' }))
})

test('what stays the same is no change, and what waits keeps its time', () => {
  expect(requestPayout(set, OLD, by('a', false), guard)).toBe(set)
  expect(requestPayout(changing, NEW, by('b', false, 3), guard)).toBe(changing)
  expect(requestPayout(changing, OTHER, by('b', true, 3), guard).pendingPayout).toMatchObject({ id: 'b', activatesAt: after(51) })
})

test('clearing is at once and withdraws what waits; only the cleared address comes back at once', () => {
  const cleared = requestPayout(changing, null, by('b'), guard)
  expect(cleared).toEqual({ ...none, clearedPayoutAddress: OLD })
  expect(requestPayout(cleared, OLD, by('c'), guard).payoutAddress).toBe(OLD)
  expect(requestPayout(cleared, NEW, by('c'), guard)).toMatchObject({ payoutAddress: null, pendingPayout: { address: NEW } })
  expect(() => requestPayout(cleared, NEW, by('c', false), guard)).toThrow(expect.objectContaining({ code: 'fresh_login_required' }))
})

test('a cancelled change is gone, and neither an old id nor a replaced change can be cancelled or signed', () => {
  expect(cancelPayout(changing, 'a')).toEqual(set)
  const replaced = requestPayout(changing, OTHER, by('b'), guard)
  for (const decide of [cancelPayout, (payout: Payout, id: string) => signPayout(payout, id, after(1), guard)]) {
    expect(() => decide(set, 'a')).toThrow(expect.objectContaining({ code: 'not_found' }))
    expect(() => decide(replaced, 'a')).toThrow(expect.objectContaining({ code: 'not_found' }))
  }
})

test('asking for the address in force withdraws what waits, also long after the login', () => {
  expect(requestPayout(changing, OLD, by('b', false, 3), guard)).toEqual(set)
  const cleared = requestPayout(set, null, by('b'), guard)
  expect(requestPayout(requestPayout(cleared, NEW, by('c'), guard), null, by('d', false), guard)).toEqual(cleared)
})

test('who may not change it any more leaves neither a request nor an approval', () => {
  expect(payoutWithoutUser(changing, 'user', guard)).toEqual(set)
  expect(payoutWithoutUser(set, 'user', guard)).toBe(set)
  expect(payoutWithoutUser(changing, 'other', guard)).toBe(changing)
  const approved = approvePayout(changing, 'a', { userId: 'other', since: after(-100), at: after(1) }, guard)
  const left = payoutWithoutUser(approved, 'other', guard)
  expect(left.pendingPayout).toMatchObject({ approvedBy: null, activatesAt: after(48) })
  expect(signPayout(left, 'a', after(2), guard).pendingPayout).toMatchObject({ isSigned: true, activatesAt: after(24) })
})

test('the message to sign differs by merchant, change and address', () => {
  const change = { ...changing.pendingPayout, id: 'a', address: NEW, requestedAt: after(0) } as NonNullable<Payout['pendingPayout']>
  const messages = [
    payoutMessage('m', change),
    payoutMessage('n', change),
    payoutMessage('m', { ...change, id: 'b' }),
    payoutMessage('m', { ...change, address: OLD }),
  ]
  expect(new Set(messages).size).toBe(4)
})

test('without delays a change is in force at once', () => {
  expect(requestPayout(set, NEW, by('a'), { delayMs: 0, unsignedDelayMs: 0 })).toEqual({ ...none, payoutAddress: NEW })
})

describe('the approval of another owner', () => {
  const other = (hours: number, sinceHours = -100) => ({ userId: 'other', since: after(sinceHours), at: after(hours) })

  test('puts what is signed in force at once, in either order, and leaves what is not signed waiting', () => {
    const approved = approvePayout(changing, 'a', other(1), guard)
    expect(approved).toMatchObject({ payoutAddress: OLD, pendingPayout: { approvedBy: 'other', activatesAt: after(48) } })
    expect(signPayout(approved, 'a', after(2), guard)).toEqual({ ...none, payoutAddress: NEW })
    expect(approvePayout(signPayout(changing, 'a', after(1), guard), 'a', other(1), guard)).toEqual({ ...none, payoutAddress: NEW })
  })

  test('is none of who requested it, of who became an owner within the delay, or of what does not wait', () => {
    const refused = (code: string) => expect.objectContaining({ code })
    expect(() => approvePayout(changing, 'a', { ...other(1), userId: 'user' }, guard)).toThrow(refused('invalid_state'))
    expect(() => approvePayout(changing, 'a', other(1, -22), guard)).toThrow(refused('invalid_state'))
    expect(() => approvePayout(changing, 'b', other(1), guard)).toThrow(refused('not_found'))
  })
})
