import {
  type CreateSubscription,
  type CustomerInput,
  customerOf,
  invalidField,
  type NamedCustomer,
  parseBrl,
  TIMEZONE_DEFAULT,
  type UpdateSubscription,
} from '@ponte/contracts'
import type { Amendment } from '../subscription/amendment'
import type { Dunning, NewSubscription } from '../subscription/subscription'

const ORDER_LIFE_DRIVEN_S = 1_800
/** No payer is present when a plan's order is issued, so it lives for a day. */
const ORDER_LIFE_PLAN_S = 86_400
const BACKDATE_MAX_MS = 366 * 86_400_000
const AHEAD_MAX_MS = 3_653 * 86_400_000

/** Fields of a new subscription beside the request. */
type Origin = Pick<NewSubscription, 'id' | 'merchantId' | 'payerToken' | 'dunning'>

export function toNewSubscription(body: CreateSubscription, origin: Origin, at: Date): NewSubscription {
  const startAt = body.start_at ? new Date(body.start_at) : at
  const expiresAt = body.expires_at ? new Date(body.expires_at) : null
  if (at.getTime() - startAt.getTime() > BACKDATE_MAX_MS) throw invalidField('start_at', 'must not lie more than a year back')
  if (startAt.getTime() - at.getTime() > AHEAD_MAX_MS) throw invalidField('start_at', 'must not lie more than ten years ahead')
  if (expiresAt && expiresAt <= at) throw invalidField('expires_at', 'must lie ahead')
  if (expiresAt && expiresAt <= startAt) throw invalidField('expires_at', 'must lie after start_at')
  return {
    ...origin,
    dunning: dunningOf(body, origin.dunning),
    externalRef: body.external_ref ?? null,
    description: body.description ?? null,
    metadata: body.metadata ?? {},
    brlCentavos: parseBrl(body.brl_amount),
    plan: body.interval ? { interval: body.interval, intervalCount: body.interval_count ?? 1 } : null,
    timezone: body.timezone ?? TIMEZONE_DEFAULT,
    startAt,
    orderExpiresInS: body.order_expires_in ?? (body.interval ? ORDER_LIFE_PLAN_S : ORDER_LIFE_DRIVEN_S),
    maxPeriods: body.max_periods ?? null,
    maxPeriodsCounts: body.max_periods_counts ?? 'payments',
    trialPeriods: body.trial_periods ?? 0,
    expiresAt,
    customer: namedAt(body.customer, at),
  }
}

/** A customer with the time at which it is named; null where nothing is known of it. */
function namedAt(input: CustomerInput | null | undefined, at: Date): NamedCustomer | null {
  const customer = customerOf(input)
  return customer && { ...customer, given_at: at.toISOString() }
}

/** The customer that a change names, where it names nothing else; undefined for any other change. */
export const customerAlone = ({ customer, ...rest }: UpdateSubscription, at: Date): NamedCustomer | null | undefined =>
  customer === undefined || Object.values(rest).some(value => value !== undefined) ? undefined : namedAt(customer, at)

/** The merchant's choice, and the deployment's settings for the rest. */
const dunningOf = (
  body: Pick<UpdateSubscription, 'upcoming_notice' | 'retry_after' | 'unpaid_periods_max' | 'when_unpaid'>,
  { noticeS, retryAfterS, unpaidPeriodsMax, whenUnpaid }: Dunning,
): Dunning => ({
  noticeS: body.upcoming_notice ?? noticeS,
  retryAfterS: body.retry_after ?? retryAfterS,
  unpaidPeriodsMax: body.unpaid_periods_max ?? unpaidPeriodsMax,
  whenUnpaid: body.when_unpaid ?? whenUnpaid,
})

export function toAmendment(body: UpdateSubscription, dunning: Dunning, at: Date): Amendment {
  const { brl_amount, interval, interval_count, timezone, max_periods, expires_at, order_expires_in, external_ref, description, metadata } =
    body
  return {
    ...(brl_amount === undefined ? {} : { brlCentavos: parseBrl(brl_amount) }),
    ...(interval === undefined ? {} : { interval }),
    ...(interval_count === undefined ? {} : { intervalCount: interval_count }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(max_periods === undefined ? {} : { maxPeriods: max_periods }),
    ...(expires_at === undefined ? {} : { expiresAt: expires_at === null ? null : new Date(expires_at) }),
    ...(order_expires_in === undefined ? {} : { orderExpiresInS: order_expires_in }),
    ...(external_ref === undefined ? {} : { externalRef: external_ref }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(body.paused === undefined ? {} : { paused: body.paused }),
    ...(body.cancel_at_period_end === undefined ? {} : { cancelAtPeriodEnd: body.cancel_at_period_end }),
    ...(body.customer === undefined ? {} : { customer: namedAt(body.customer, at) }),
    appliesNow: body.apply === 'now',
    dunning: dunningOf(body, dunning),
  }
}
