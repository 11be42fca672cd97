import { cancelClaim, openClaim, takeClaim } from './claim'
import { codeExpiresAt, emailHint, isCode, issueCode, nextCodeAt } from './code'

const AT = new Date('2026-11-28T12:00:00.000Z')
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000)
const asked = { id: 'c1', orderId: 'o', merchantId: 'm', payerToken: 't', units: 5n, reason: 'r', requestedBy: null }
const open = openClaim({ ...asked, email: 'cliente@example.com' }, [], AT)
function issued(claim: typeof open, code: string, at: Date) {
  const next = issueCode(claim, code, at)
  if (!next) throw new Error('too early')
  return next
}

describe('the code that naming an address takes', () => {
  const sent = issued(open, '012345', AT)
  it('is good for a quarter of an hour', () => {
    expect(codeExpiresAt(sent)).toEqual(later(900))
    expect(isCode(sent, '012345', later(899))).toBe(true)
    expect(isCode(sent, '012345', later(900))).toBe(false)
    expect(isCode(sent, '012346', AT)).toBe(false)
    expect(isCode(open, '012345', AT)).toBe(false)
  })
  it('is no code of another claim', () => expect(isCode({ ...sent, id: 'c2' }, '012345', AT)).toBe(false))
  it('stands in no field of the claim', () => {
    expect(Object.values(sent).map(String).join()).not.toContain('012345')
  })
  it('is good for five tries, and the next one for five of its own', () => {
    expect(isCode({ ...sent, codeTries: 5 }, '012345', AT)).toBe(true)
    expect(isCode({ ...sent, codeTries: 6 }, '012345', AT)).toBe(false)
    expect(issued({ ...sent, codeTries: 5 }, '777777', later(60)).codeTries).toBe(0)
  })
  it('is replaced by the next one, a minute later, five in all', () => {
    expect(nextCodeAt(open, AT)).toEqual(AT)
    expect(issueCode(sent, '222222', later(59))).toBeNull()
    const second = issued(sent, '222222', later(60))
    expect(isCode(second, '012345', later(60))).toBe(false)
    const last = [120, 180, 240].reduce((claim, at) => issued(claim, '333333', later(at)), second)
    expect(nextCodeAt(last, later(400))).toBeNull()
    expect(() => issueCode(last, '444444', later(400))).toThrow('5 codes were mailed')
    expect(isCode(last, '333333', later(400))).toBe(true)
  })
  it('ends with the claim, as its mail address does', () => {
    for (const over of [cancelClaim(sent, AT), takeClaim(sent, '0xaa', 'r1', AT)]) {
      expect(over).toMatchObject({ email: null, codeHash: null, wantsCode: true })
      expect(isCode(over, '012345', AT)).toBe(false)
      expect(() => issueCode(over, '222222', later(60))).toThrow('no address any more')
      expect(nextCodeAt(over, AT)).toBeNull()
    }
    expect(() => issueCode(sent, '222222', later(31 * 86_400))).toThrow('no address any more')
  })
  it('is none where no mail address was given', () => {
    const without = openClaim({ ...asked, email: null }, [], AT)
    expect(nextCodeAt(without, AT)).toBeNull()
    expect(() => issueCode(without, '012345', AT)).toThrow('without a code')
  })
  it('is not mailed for a claim whose address is forgotten', () => {
    expect(() => issueCode({ ...open, email: null }, '012345', AT)).toThrow('ask the shop')
  })
})

it.each([
  ['cliente@example.com', 'c…@example.com'],
  ['c@example.com', '…@example.com'],
])('%s is shown as %s', (email, hint) => expect(emailHint(email)).toBe(hint))
