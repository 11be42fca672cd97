import { type PeriodTerms, periodVerdict } from './period'
import type { Attempt, Charge } from './subscription'

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000)
const terms: PeriodTerms = { endsAt: at(24 * 31), orderExpiresInS: 86_400, retryAfterS: [86_400, 259_200] }
const attempt = (hours: number, change: Partial<Attempt> = {}): Attempt => ({
  orderId: `order-${hours}`,
  memo: '',
  status: 'open',
  issuedAt: at(hours),
  endsAt: at(hours + 24),
  brlCentavos: 4990n,
  receivedCentavos: 0n,
  reportRevision: 0,
  receivedOrder: null,
  reason: null,
  replacedAt: null,
  ...change,
})
const expired = (hours: number, change: Partial<Attempt> = {}) => attempt(hours, { status: 'expired', ...change })
const charge = (...attempts: Attempt[]): Charge => ({
  periodIndex: 0,
  periods: 1,
  status: 'open',
  brlCentavos: 4990n,
  wording: null,
  issuedAt: at(0),
  paidAt: null,
  attempts,
})
const verdict = (known: Charge | undefined, hours: number, change: Partial<PeriodTerms> = {}) => {
  const { state, issueAt } = periodVerdict(known, { ...terms, ...change }, at(hours))
  return [state, issueAt === null ? null : (issueAt.getTime() - at(0).getTime()) / 3_600_000]
}

describe('the state of a period', () => {
  it('is due when nothing was asked, while enough of it is left', () => {
    expect(verdict(undefined, 5)).toEqual(['due', 5])
    expect(verdict(undefined, 24 * 31)).toEqual(['due', null])
    expect(verdict(undefined, 5, { endsAt: null })).toEqual(['due', 5])
  })

  it('is asked while an order is open', () => {
    expect(verdict(charge(expired(0), attempt(24)), 25)).toEqual(['asked', null])
  })

  it('is retried after the first order, at the times that are left, within the period', () => {
    expect(verdict(charge(expired(0)), 24)).toEqual(['retrying', 24])
    expect(verdict(charge(expired(0), expired(24)), 48)).toEqual(['retrying', 72])
    expect(verdict(charge(expired(0), expired(24), expired(72)), 96)).toEqual(['unpaid', null])
    expect(verdict(charge(expired(0)), 24, { retryAfterS: [] })).toEqual(['unpaid', null])
    expect(verdict(charge(expired(0)), 23, { endsAt: at(24) })).toEqual(['unpaid', null])
  })

  it('is not asked again by itself after the merchant cancelled the order, or orders refused it for good', () => {
    expect(verdict(charge(attempt(0, { status: 'cancelled' })), 24)).toEqual(['unpaid', null])
  })

  it('is due again when its order lapsed before it was opened, and no try is lost by it', () => {
    const lapsed = expired(0, { reason: 'lapsed' })
    expect(verdict(charge(lapsed), 30)).toEqual(['due', 24])
    expect(verdict(charge(lapsed, expired(30)), 54)).toEqual(['retrying', 54])
  })

  it('asks for no more than what is missing, and for nothing when all came late', () => {
    const part = expired(0, { receivedCentavos: 4491n })
    expect(periodVerdict(charge(part), terms, at(24))).toMatchObject({ state: 'retrying', missingCentavos: 499n })
    expect(verdict(charge(expired(0, { receivedCentavos: 4990n })), 24)).toEqual(['late', null])
    expect(verdict(charge(part, expired(24, { receivedCentavos: 499n })), 48)).toEqual(['late', null])
  })

  it('is paid once an order was, whatever else came', () => {
    expect(verdict({ ...charge(attempt(0, { status: 'paid' })), status: 'paid' }, 24)).toEqual(['paid', null])
  })
})
