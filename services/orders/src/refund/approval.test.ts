import { approve, needsApproval, type RefundLimit, requireTwoMembers } from './approval'
import { type StoredRefund, UNOBSERVED } from './stored-refund'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000)
const asked = (change: Partial<StoredRefund> = {}): StoredRefund => ({
  ...UNOBSERVED,
  ...{ id: 'r1', payee: '0x0A', units: 5n, nonce: '0x01', orderId: 'o1', merchantId: 'm', chainId: 1, fromAddress: '0x0B' },
  ...{ watchFrom: 0n, reason: 'It came back', requestedBy: 'ana', createdAt: at(0), ...change },
})
const signed = { signatures: [{ validBefore: at(9), signature: '0x', seenAt: at(1) }] }
const above: RefundLimit = { promisedUnits: 11n, aboveUnits: 10n }

describe('a signature above the limit', () => {
  it.each([
    ['who asked brings it', 'ana', null, 'ana', false],
    ['another member brings it', 'ana', null, 'bia', true],
    ['another one approved', 'ana', 'bia', 'ana', true],
    ['another one approved, and a key brings it', 'ana', 'bia', null, true],
    ['a key brings what one member asked for', 'ana', null, null, false],
    ['who approved what a key asked for brings it', null, 'ana', 'ana', false],
    ['one approved what a key asked for, and another one brings it', null, 'ana', 'bia', true],
    ['a key asks and brings it, one approved', null, 'ana', null, false],
    ['a key alone', null, null, null, false],
  ] as const)('where %s', (_, requestedBy, approvedBy, bringer, isTaken) => {
    const bring = () => requireTwoMembers({ requestedBy, approvedBy }, bringer, above)
    if (isTaken) expect(bring).not.toThrow()
    else expect(bring).toThrow('take two members')
  })

  it('counts no member who has left, whether they asked for it or approved it', () => {
    const bring = (requestedBy: string | null, approvedBy: string | null, by: string | null, members: string[]) => () =>
      requireTwoMembers({ requestedBy, approvedBy }, by, { ...above, members })
    expect(bring('ana', 'bia', 'ana', ['ana', 'bia'])).not.toThrow()
    expect(bring('ana', 'bia', 'ana', ['ana'])).toThrow('take two members')
    expect(bring('bia', null, 'ana', ['ana'])).toThrow('take two members')
    expect(bring('bia', 'carla', null, ['ana', 'carla'])).toThrow('take two members')
    expect(bring('bia', 'carla', 'ana', ['ana', 'carla'])).not.toThrow()
  })

  it('is judged by the sum of the order’s refunds, and what comes to the limit itself is not above it', () => {
    const one = { requestedBy: 'ana', approvedBy: null }
    for (const limit of [
      { promisedUnits: 10n, aboveUnits: 10n },
      { ...above, aboveUnits: null },
    ])
      expect(() => requireTwoMembers(one, 'ana', limit)).not.toThrow()
    expect(() => requireTwoMembers(one, 'ana', { promisedUnits: 1n, aboveUnits: 0n })).toThrow('above 0.000000 USDC')
  })
})

describe('an approval', () => {
  it('is the first one of another member, and the same one again changes nothing', () => {
    const refund = approve(asked(), 'bia', at(2))
    expect([refund.approvedBy, refund.approvedAt]).toEqual(['bia', at(2)])
    expect(approve(refund, 'bia', at(3))).toBe(refund)
    expect(approve({ ...refund, ...signed }, 'bia', at(3)).approvedAt).toEqual(at(2))
    expect(() => approve(refund, 'carla', at(3))).toThrow('already')
    expect(() => approve(asked(), 'ana', at(2))).toThrow('You asked')
    expect(approve(asked({ requestedBy: null }), 'ana', at(2)).approvedBy).toBe('ana')
  })

  it('of a member who has left makes room for another one', () => {
    const left = approve(asked(), 'bia', at(2))
    expect(() => approve(left, 'carla', at(3), ['ana', 'bia', 'carla'])).toThrow('already')
    expect(approve(left, 'carla', at(3), ['ana', 'carla'])).toMatchObject({ approvedBy: 'carla', approvedAt: at(3) })
    expect(needsApproval(left, { ...above, members: ['ana', 'carla'] })).toBe(true)
  })

  it('is of what waits for a signature alone', () => {
    for (const change of [signed, { cancelledAt: at(1) }, { ended: 'cancelled' as const }])
      expect(() => approve(asked(change), 'bia', at(2))).toThrow('waits for no signature')
    expect(approve(asked({ ...signed, knownTime: at(9) }), 'bia', at(10)).approvedBy).toBe('bia')
  })

  it('is needed until two members took part, while nothing is signed', () => {
    const need = (change: Partial<StoredRefund>, limit = above) => needsApproval(asked(change), limit)
    expect([need({}), need({ approvedBy: 'bia' }), need({ requestedBy: null, approvedBy: 'bia' })]).toEqual([true, false, true])
    expect([need(signed), need({ cancelledAt: at(1) }), need({}, { promisedUnits: 10n, aboveUnits: 10n })]).toEqual([false, false, false])
  })
})
