import type { SubscriptionBody } from '@ponte/contracts'
import { type CsvColumn, fieldColumns } from '@ponte/service-kit'

/** Without `payer_url`: who has that link can open it. */
export const subscriptionColumns: readonly CsvColumn<SubscriptionBody>[] = [
  ...fieldColumns(['id', 'created_at', 'status', 'external_ref', 'description', 'brl_amount', 'interval', 'interval_count']),
  ...fieldColumns(['timezone', 'start_at', 'next_charge_at', 'charges_done', 'max_periods', 'expires_at', 'trial_ends_at']),
  ...fieldColumns(['open_order_id', 'waiting_for', 'paused_at', 'cancel_at', 'cancelled_at', 'expired_at']),
]
