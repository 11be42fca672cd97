import { formatBrl, type MerchantTerms, type NewEvent } from '@ponte/contracts'
import type { Change, Fact, Subscription } from './subscription'

/** The events of a change, in the order in which it happened. Skipped periods and duplicates are not published. */
export const toEvents = ({ subscription, facts }: Change, terms: MerchantTerms, causeVersion = 0): NewEvent[] =>
  facts.flatMap(fact => toEvent(subscription, fact, terms, Math.max(terms.version, causeVersion)) ?? [])

function toEvent(subscription: Subscription, fact: Fact, terms: MerchantTerms, version: number): NewEvent | null {
  const owner = { merchant_id: subscription.merchantId, merchant_version: version }
  const compact = { id: subscription.id, external_ref: subscription.externalRef }
  switch (fact.kind) {
    case 'charge_requested':
      return {
        type: 'subscription.charge_requested',
        data: {
          order_id: fact.attempt.orderId,
          memo: fact.attempt.memo,
          subscription_id: subscription.id,
          terms,
          brl_amount: formatBrl(fact.attempt.brlCentavos),
          external_ref: fact.wording.externalRef,
          description: fact.wording.description,
          metadata: fact.wording.metadata,
          expires_in: fact.expiresInS,
          ...(subscription.customer === null ? {} : { customer: subscription.customer }),
          ...(fact.attempt.endsAt === null ? {} : { expires_at: fact.attempt.endsAt.toISOString() }),
        },
      }
    case 'charged':
      return {
        type: 'subscription.charged',
        data: {
          ...{ ...owner, subscription_id: subscription.id, charges_done: fact.chargesDone, order: fact.order },
          ...(fact.accepted ? { accepted: fact.accepted } : {}),
        },
      }
    case 'superseded':
      return {
        type: 'subscription.order_superseded',
        data: {
          ...{ ...owner, subscription_id: subscription.id, order_id: fact.orderId },
          ...(fact.isReplaced ? { is_replaced: true } : {}),
          ...(fact.deductedCentavos === undefined ? {} : { deducted_brl_amount: formatBrl(fact.deductedCentavos) }),
        },
      }
    case 'upcoming': {
      const notice = { period_index: fact.periodIndex, charge_at: fact.chargeAt.toISOString() }
      const data = { ...compact, ...notice, brl_amount: formatBrl(subscription.brlCentavos) }
      return { type: 'subscription.upcoming', data: { ...owner, subscription: data } }
    }
    case 'past_due': {
      const owed = { period_index: fact.periodIndex, missing_brl_amount: formatBrl(fact.missingCentavos) }
      return { type: 'subscription.past_due', data: { ...owner, subscription: { ...compact, ...owed } } }
    }
    case 'paused':
    case 'resumed':
      return { type: `subscription.${fact.kind}`, data: { ...owner, subscription: compact } }
    case 'cancelled':
    case 'expired':
      return {
        type: `subscription.${fact.kind}`,
        data: { ...owner, open_order_id: fact.openOrderIds[0] ?? null, open_order_ids: [...fact.openOrderIds], subscription: compact },
      }
    case 'duplicate':
    case 'skipped':
      return null
  }
}
