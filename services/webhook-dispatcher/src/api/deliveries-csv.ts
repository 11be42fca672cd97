import type { DeliveryBody } from '@ponte/contracts'
import { type CsvColumn, fieldColumns } from '@ponte/service-kit'

export const deliveryColumns: readonly CsvColumn<DeliveryBody>[] = [
  ...fieldColumns(['id', 'created_at', 'event_type', 'event_id', 'endpoint_id', 'order_id', 'subscription_id', 'status', 'attempts']),
  ...fieldColumns(['delivered_at', 'next_attempt_at', 'last_http_status', 'last_error_code', 'last_error', 'dead_reason', 'replay_of']),
]
