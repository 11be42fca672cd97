import type { MerchantTerms } from '@ponte/contracts'
import { hasLapsed, newestTerms, wantedCharge } from './charge'

const ASKED_AT = '2026-11-22T12:00:00.000Z'
const terms: MerchantTerms = {
  ...{ merchant_id: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', version: 3 },
  ...{ display_name: 'Padaria', payout_address: `0x${'1'.repeat(40)}` },
}
const charge = (expiresIn: number, expiresAt?: string) =>
  wantedCharge(
    {
      ...{ terms, subscription_id: terms.merchant_id, order_id: terms.merchant_id, memo: 'ab'.repeat(32), brl_amount: '49.90' },
      ...{ external_ref: null, description: null, metadata: {}, expires_in: expiresIn },
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    },
    ASKED_AT,
  )
const lapsesAfter = (wanted: ReturnType<typeof charge>, seconds: number) =>
  hasLapsed(wanted, new Date(Date.parse(ASKED_AT) + seconds * 1_000))

describe('a charge', () => {
  it.each([
    [86_400, 86_100, false],
    [86_400, 86_101, true],
    [10, 5, false],
    [10, 6, true],
  ])('with a life of %i s is opened after %i s unless too little of it is left: %s', (life, seconds, lapsed) => {
    expect(lapsesAfter(charge(life), seconds)).toBe(lapsed)
  })
  it('with ten seconds until its end is opened while half its life is left, however late its message comes', () => {
    const end = '2026-11-22T12:00:10.000Z'
    expect([lapsesAfter(charge(10, end), 4), lapsesAfter(charge(10, end), 6), lapsesAfter(charge(86_400, end), 0)]).toEqual([
      false,
      true,
      true,
    ])
  })
  it('takes the newer of the terms that came with it and those that are known', () => {
    const cleared = { ...terms, version: 4, payout_address: null }
    expect(newestTerms(terms, cleared)).toBe(cleared)
    expect(newestTerms(terms, { ...cleared, version: 3 })).toEqual(terms)
    expect(newestTerms(terms, null)).toBe(terms)
  })
  it('is offered on the networks that are known where the requester knows none', () => {
    const known = { ...terms, chain_ids: [8453] }
    expect(newestTerms(terms, known).chain_ids).toEqual([8453])
    expect(newestTerms({ ...terms, chain_ids: null }, known).chain_ids).toBeNull()
    expect(newestTerms({ ...terms, chain_ids: null }, { ...known, version: 4 }).chain_ids).toEqual([8453])
  })
})
