import type { Payment } from '../payment/payment'
import { cancelClaim, claimStatus, isKnownPayment, openClaim, takeClaim } from './claim'

const AT = new Date('2026-11-28T12:00:00.000Z')
const later = (days: number) => new Date(AT.getTime() + days * 86_400_000)
const asked = { id: 'c1', orderId: 'o', merchantId: 'm', payerToken: 't', units: 5n, reason: 'r', requestedBy: null, email: null }
const open = openClaim(asked, [], AT)

describe('a link for the address that money goes back to', () => {
  it('takes one address, within thirty days', () => {
    expect(claimStatus(open, later(29))).toBe('open')
    expect(claimStatus(open, later(30))).toBe('expired')
    expect(() => takeClaim(open, '0xaa', 'r1', later(30))).toThrow('no address any more')
    const taken = takeClaim(open, '0xaa', 'r1', later(1))
    expect(claimStatus(taken, later(99))).toBe('claimed')
    expect(() => takeClaim(taken, '0xaa', 'r2', later(1))).toThrow('no address any more')
  })
  it('is ended by the merchant as long as it has taken none', () => {
    const ended = cancelClaim(open, AT)
    expect(claimStatus(ended, AT)).toBe('cancelled')
    expect(cancelClaim(ended, later(1)).cancelledAt).toEqual(AT)
    expect(() => takeClaim(ended, '0xaa', 'r1', AT)).toThrow('no address any more')
    expect(() => cancelClaim(takeClaim(open, '0xaa', 'r1', AT), AT)).toThrow('has named an address')
  })
  it('is the only open one of its order', () => {
    expect(() => openClaim({ ...asked, id: 'c2' }, [open], AT)).toThrow('takes an address')
    expect(openClaim({ ...asked, id: 'c2' }, [cancelClaim(open, AT)], AT).id).toBe('c2')
    expect(openClaim({ ...asked, id: 'c2' }, [open], later(31)).id).toBe('c2')
  })
})

describe('the payment that its payer names', () => {
  const payment = (txHash: string, grossUnits: bigint, status = 'confirmed') => ({ txHash, grossUnits, status }) as Payment
  const payments = [payment('0xaa', 2_000_000n), payment('0xaa', 3_500_000n), payment('0xbb', 7n, 'orphaned')]
  it.each([
    ['0xaa', '2', true],
    ['0xaa', '3.500000', true],
    ['0xaa', '5.5', true],
    ['0xaa', '5', false],
    ['0xbb', '0.000007', false],
    ['0xcc', '2', false],
  ])('%s of %s: %s', (tx_hash, amount, isKnown) => expect(isKnownPayment(payments, { tx_hash, amount })).toBe(isKnown))
})
