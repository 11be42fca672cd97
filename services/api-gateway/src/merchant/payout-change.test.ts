import {
  activatePayout,
  approvePayout,
  cancelPayout,
  type Payout,
  payoutAddressMessage,
  payoutMessage,
  payoutWithoutUser,
  provePayout,
  requestPayout,
  requestPayoutOn,
  retimed,
  signPayout,
} from './payout-change'

const HOUR = 3_600_000
const guard = { delayMs: 24 * HOUR, unsignedDelayMs: 48 * HOUR, ownerDelayMs: 48 * HOUR, payoutHoldMs: 72 * HOUR }
const start = Date.parse('2026-11-20T12:00:00.000Z')
const after = (hours: number) => new Date(start + hours * HOUR)
const signedAt = (at: Date) => ({ message: 'text', signature: '0x01', at })
const proofOf = (address: string, at: Date) => ({ address, message: 'text', signature: '0x01', signedAt: at })
const by = (id: string, hours = 0, isNew = false) => ({ id, userId: 'user', at: after(hours), owners: ['user'], isNew })
const [OLD, NEW, OTHER] = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002', '0x3']
const quiet = { ownerChanges: [], payoutHeldUntil: null, frozenAt: null }
const none: Payout = {
  payoutAddress: null,
  payoutAddresses: null,
  payoutProof: null,
  payoutIsContract: false,
  clearedPayoutAddress: null,
  pendingPayout: null,
  ...quiet,
}
const set = requestPayout(none, OLD, by('first', 0, true), guard)
const changing = requestPayout(set, NEW, by('a'), guard)

test('the first address of a new merchant is in force at once; that of an older one waits', () => {
  expect(set).toEqual({ ...none, payoutAddress: OLD })
  expect(requestPayout(none, NEW, by('late'), guard)).toMatchObject({ payoutAddress: null, pendingPayout: { activatesAt: after(48) } })
})

test('another one waits two days, or one when its key signed, and is in force then', () => {
  expect(changing).toMatchObject({ payoutAddress: OLD, pendingPayout: { address: NEW, activatesAt: after(48) } })
  const signed = signPayout(changing, 'a', signedAt(after(1)), guard)
  expect(signed).toMatchObject({ payoutAddress: OLD, pendingPayout: { isSigned: true, activatesAt: after(24) } })
  expect(activatePayout(signed, after(23))).toBe(signed)
  expect(signPayout(signed, 'a', signedAt(after(2)), guard)).toBe(signed)
  expect(signPayout(signed, 'a', signedAt(after(24)), guard)).toMatchObject({ payoutAddress: NEW, pendingPayout: null })
  expect(activatePayout(signed, after(24))).toEqual({ ...none, payoutAddress: NEW, payoutProof: proofOf(NEW, after(1)) })
  expect(signPayout(changing, 'a', signedAt(after(30)), guard)).toEqual({
    ...none,
    payoutAddress: NEW,
    payoutProof: proofOf(NEW, after(30)),
  })
})

test('what stays the same is no change, and what waits keeps its time', () => {
  expect(requestPayout(set, OLD, by('a'), guard)).toBe(set)
  expect(requestPayout(changing, NEW, by('b', 3), guard)).toBe(changing)
  expect(requestPayout(changing, OTHER, by('b', 3), guard).pendingPayout).toMatchObject({ id: 'b', activatesAt: after(51) })
})

test('clearing is at once and withdraws what waits; only the cleared address comes back at once', () => {
  const cleared = requestPayout(changing, null, by('b'), guard)
  expect(cleared).toEqual({ ...none, clearedPayoutAddress: OLD })
  expect(requestPayout(cleared, OLD, by('c'), guard).payoutAddress).toBe(OLD)
  expect(requestPayout(cleared, NEW, by('c'), guard)).toMatchObject({ payoutAddress: null, pendingPayout: { address: NEW } })
})

test('a cancelled change is gone, and neither an old id nor a replaced change can be cancelled or signed', () => {
  expect(cancelPayout(changing, 'a')).toEqual(set)
  const replaced = requestPayout(changing, OTHER, by('b'), guard)
  for (const decide of [cancelPayout, (payout: Payout, id: string) => signPayout(payout, id, signedAt(after(1)), guard)]) {
    expect(() => decide(set, 'a')).toThrow(expect.objectContaining({ code: 'not_found' }))
    expect(() => decide(replaced, 'a')).toThrow(expect.objectContaining({ code: 'not_found' }))
  }
})

test('asking for the address in force withdraws what waits', () => {
  expect(requestPayout(changing, OLD, by('b', 3), guard)).toEqual(set)
  const cleared = requestPayout(set, null, by('b'), guard)
  expect(requestPayout(requestPayout(cleared, NEW, by('c'), guard), null, by('d'), guard)).toEqual(cleared)
})

test('who may not change it any more leaves neither a request nor an approval', () => {
  expect(payoutWithoutUser(changing, 'user')).toEqual(set)
  expect(payoutWithoutUser(set, 'user')).toBe(set)
  expect(payoutWithoutUser(changing, 'other')).toBe(changing)
  const approved = approvePayout(changing, 'a', { userId: 'other', since: after(-100), at: after(1) }, guard)
  const left = payoutWithoutUser(approved, 'other')
  expect(left.pendingPayout).toMatchObject({ approvedBy: null })
  expect(signPayout(left, 'a', signedAt(after(2)), guard).pendingPayout).toMatchObject({ isSigned: true, activatesAt: after(24) })
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
  expect(requestPayout(set, NEW, by('a'), { delayMs: 0, unsignedDelayMs: 0, ownerDelayMs: 0, payoutHoldMs: 0 })).toEqual({
    ...none,
    payoutAddress: NEW,
  })
})

describe('the approval of another owner', () => {
  const other = (hours: number, sinceHours = -100) => ({ userId: 'other', since: after(sinceHours), at: after(hours) })

  test('is worth a signature, and both together end no wait', () => {
    const approved = approvePayout(changing, 'a', other(1), guard)
    expect(approved).toMatchObject({ payoutAddress: OLD, pendingPayout: { approvedBy: 'other', activatesAt: after(24) } })
    expect(signPayout(approved, 'a', signedAt(after(2)), guard).pendingPayout).toMatchObject({ isSigned: true, activatesAt: after(24) })
    expect(approvePayout(approved, 'a', other(2), guard)).toBe(approved)
    const signed = signPayout(changing, 'a', signedAt(after(1)), guard)
    expect(approvePayout(signed, 'a', other(1), guard)).toMatchObject({ payoutAddress: OLD, pendingPayout: { activatesAt: after(24) } })
    expect(approvePayout(changing, 'a', other(30), guard)).toEqual({ ...none, payoutAddress: NEW })
  })

  test('is none of who requested it, of who became an owner within the delay, or of what does not wait', () => {
    const refused = (code: string) => expect.objectContaining({ code })
    expect(() => approvePayout(changing, 'a', { ...other(1), userId: 'user' }, guard)).toThrow(refused('invalid_state'))
    expect(() => approvePayout(changing, 'a', other(1, -22), guard)).toThrow(refused('invalid_state'))
    expect(() => approvePayout(changing, 'b', other(1), guard)).toThrow(refused('not_found'))
  })
})

describe('beside changes of the owners', () => {
  const waiting = (hours: number) => ({
    ...{
      id: 'o',
      memberId: 'm',
      role: 'owner' as const,
      requestedBy: 'thief',
      requestedAt: after(hours),
      keepsKeys: false,
      objectedAt: null,
      confirmedBy: null,
    },
    ...{ owners: ['user'], activatesAt: after(hours + 48) },
  })

  test('nothing is in force while one waits, signed and approved or not, nor within 72 hours after', () => {
    const both = { ...set, ownerChanges: [waiting(0)] }
    const asked = requestPayout(both, NEW, by('a'), guard)
    expect(asked.pendingPayout).toMatchObject({ activatesAt: after(48 + 72) })
    const signed = signPayout(asked, 'a', signedAt(after(1)), guard)
    const approved = approvePayout(signed, 'a', { userId: 'other', since: after(-100), at: after(2) }, guard)
    expect(approved.pendingPayout).toMatchObject({ isSigned: true, approvedBy: 'other', activatesAt: after(48 + 72) })
    expect(activatePayout(approved, after(1000))).toBe(approved)
    const settled = { ...approved, ownerChanges: [], payoutHeldUntil: after(48 + 72) }
    expect(activatePayout(settled, after(48 + 72 - 0.001)).payoutAddress).toBe(OLD)
    expect(activatePayout(settled, after(48 + 72)).payoutAddress).toBe(NEW)
  })

  test('one that is requested later holds up what waited before it, and its end lets it go', () => {
    const held = { ...changing, ownerChanges: [waiting(40)] }
    expect(retimed(held, guard)).toMatchObject({ activatesAt: after(40 + 48 + 72) })
    expect(retimed({ ...held, ownerChanges: [] }, guard)).toMatchObject({ activatesAt: after(48) })
  })

  test('nothing changes in a frozen account, and what is there can be cancelled', () => {
    const frozen = { ...changing, frozenAt: after(1) }
    expect(activatePayout(frozen, after(1000))).toBe(frozen)
    for (const address of [OTHER, null])
      expect(() => requestPayout(frozen, address, by('b'), guard)).toThrow(expect.objectContaining({ code: 'invalid_state' }))
    expect(cancelPayout(frozen, 'a').pendingPayout).toBeNull()
  })
})

describe('the proof of the address in force', () => {
  const proven = provePayout(set, signedAt(after(1)))

  it('is the first signature of its key, and a second one is no change', () => {
    expect(proven).toEqual({ ...set, payoutProof: proofOf(OLD, after(1)) })
    expect(provePayout(proven, signedAt(after(2)))).toBe(proven)
    expect(provePayout(none, signedAt(after(1)))).toBe(none)
  })

  it('goes with its address, and a successor that was not signed has none', () => {
    const next = requestPayout(proven, NEW, by('a'), guard)
    expect(next.payoutProof).toEqual(proofOf(OLD, after(1)))
    expect(activatePayout(next, after(48))).toMatchObject({ payoutAddress: NEW, payoutProof: null })
    expect(requestPayout(proven, null, by('b'), guard).payoutProof).toBeNull()
    expect(requestPayout(requestPayout(proven, null, by('b'), guard), OLD, by('c'), guard).payoutProof).toBeNull()
  })

  it('is of a text that no change of a payout address is signed with', () => {
    expect(payoutAddressMessage('m', NEW)).toBe(`Ponte: my orders are paid out to this address.\nAddress: ${NEW}\nMerchant: m`)
  })
})

describe('an address for one network', () => {
  const asking = requestPayoutOn(set, 137, NEW, by('n'), guard)
  const named = activatePayout(asking, after(48))

  it('waits as any other does, the first time too, and leaves that of all others as it is', () => {
    expect(asking).toMatchObject({ ...set, pendingPayout: { chainId: 137, address: NEW, activatesAt: after(48) } })
    expect(activatePayout(asking, after(47))).toBe(asking)
    expect(named).toEqual({ ...set, payoutAddresses: { 137: NEW } })
    expect(signPayout(asking, 'n', signedAt(after(30)), guard)).toEqual(named)
    expect(requestPayoutOn(set, 137, NEW, by('n', 0, true), guard).payoutAddresses).toBeNull()
  })

  it('is not there where the merchant has none for the others', () => {
    expect(() => requestPayoutOn(none, 137, NEW, by('n'), guard)).toThrow(expect.objectContaining({ code: 'payout_address_required' }))
  })

  it('ends, after the same wait, by that of all others', () => {
    for (const asked of [null, OLD]) {
      const ending = requestPayoutOn(named, 137, asked, by('m', 50), guard)
      expect(ending).toMatchObject({ payoutAddresses: { 137: NEW }, pendingPayout: { address: OLD, activatesAt: after(98) } })
      expect(activatePayout(ending, after(98))).toEqual({ ...set, payoutAddresses: {} })
    }
  })

  it('stays with its network where another network has another, and where all others change', () => {
    const both = activatePayout(requestPayoutOn(named, 10, OTHER, by('m', 50), guard), after(98))
    expect(both.payoutAddresses).toEqual({ 137: NEW, 10: OTHER })
    const moved = activatePayout(requestPayout(both, NEW, by('o', 100), guard), after(148))
    expect(moved).toMatchObject({ payoutAddress: NEW, payoutAddresses: { 137: NEW, 10: OTHER } })
  })

  it('is withdrawn by asking for what is in force, and replaced by another one for its network alone', () => {
    expect(requestPayoutOn(asking, 137, null, by('m', 3), guard)).toEqual(set)
    expect(requestPayoutOn(asking, 137, NEW, by('m', 3), guard)).toBe(asking)
    expect(requestPayoutOn(asking, 137, OTHER, by('m', 3), guard).pendingPayout).toMatchObject({ id: 'm', address: OTHER })
    const refused = expect.objectContaining({ code: 'invalid_state' })
    expect(() => requestPayoutOn(asking, 10, OTHER, by('m', 3), guard)).toThrow(refused)
    expect(() => requestPayout(asking, OTHER, by('m', 3), guard)).toThrow(refused)
    expect(() => requestPayoutOn(changing, 137, NEW, by('m', 3), guard)).toThrow(refused)
    expect(requestPayout(asking, OLD, by('m', 3), guard)).toBe(asking)
    expect(requestPayout(asking, null, by('m', 3), guard)).toMatchObject({ payoutAddress: null, pendingPayout: null })
  })

  it('is held by the owners’ changes and stopped by a freeze, also where nothing has retimed it', () => {
    const frozen = { ...set, frozenAt: after(1) }
    expect(() => requestPayoutOn(frozen, 137, NEW, by('n'), guard)).toThrow(expect.objectContaining({ code: 'invalid_state' }))
    expect(activatePayout({ ...asking, frozenAt: after(1) }, after(48)).payoutAddresses).toBeNull()
    const held = { ...asking, payoutHeldUntil: after(60) }
    expect([59, 60].map(hours => activatePayout(held, after(hours)).payoutAddresses)).toEqual([null, { 137: NEW }])
    expect(retimed(held, guard)?.activatesAt).toEqual(after(60))
  })

  it('is named in the text that its key signs', () => {
    const lines = (payout: Payout) => payout.pendingPayout && payoutMessage('merchant', payout.pendingPayout).split('\n')
    expect(lines(asking)).toContain('Network: 137')
    expect(lines(changing)?.some(line => line.startsWith('Network'))).toBe(false)
  })
})
