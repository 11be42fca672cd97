import type { ErrorCode } from '@ponte/contracts'

/** Advice for each code beyond its `detail`. */
export const cures: Record<ErrorCode, string> = {
  invalid_request: 'Correct the fields that `errors` names. Amounts are text (`"150.00"`), and fields that are not documented are refused.',
  missing_authorization: 'Send `Authorization: Bearer sk_live_…`.',
  invalid_api_key:
    'The key was rotated, is cut, or belongs to another deployment. Server-to-server routes take the key, never a session token.',
  invalid_jwt: 'Log in again, or refresh the session. `/merchants` routes take a session token, never the API key.',
  forbidden:
    'The id belongs to another merchant, or the key or member lacks what `detail` names: check which key this is, or ask an owner.',
  fresh_login_required: 'Log in again with the password, then repeat it within a few minutes.',
  second_factor_required: 'Log in again with the password and the second factor, then repeat it within a few minutes.',
  not_found: 'Check id and path. Events are kept for 30 days.',
  method_not_allowed: 'The header `Allow` names the methods of this path.',
  request_timeout: 'Send the request again, with the same `Idempotency-Key`; it was not complete in time.',
  invalid_state: 'Read the resource: its `status` has moved on.',
  order_has_payments: 'Money came before the cancellation. Wait for `order.paid` or `order.underpaid`, and settle it with the payer.',
  merchant_exists: 'A user has one merchant: `GET /api/v1/merchants/me`.',
  idempotency_in_progress: 'Wait a moment and send the same again; the first answer comes back.',
  not_due: 'The period is paid. `next_charge_at` names the next one.',
  events_reset:
    'Go on with `after=` and `resume_after`: what is behind it was numbered again. Take events that you have already by `type` and `data`, as webhooks; delete entries that you have behind it. `events.follow` and `entries.follow` of the SDK do it.',
  payload_too_large: 'Send less: `metadata` takes 20 pairs, `description` 500 characters.',
  unsupported_media_type: 'Send `Content-Type: application/json`.',
  idempotency_mismatch: 'Make a new key for another body. A key names one intent, such as one invoice.',
  payout_address_required: 'Set a payout address in the dashboard, or `PATCH /api/v1/merchants/me`.',
  payout_address_refused: 'The token would not pay this address: it is blocked, or is the token or the router itself. Choose another.',
  rate_limited: 'Wait as long as `Retry-After` asks, then go on more slowly.',
  headers_too_large: 'Send fewer or shorter headers.',
  internal_error: 'Send it again with the same `Idempotency-Key`; if it persists, ask us and quote `request_id`.',
  orders_paused:
    'We have paused new orders. Orders that exist are paid and notified as ever, and charges of plans wait. Try again as `Retry-After` asks, with the same `Idempotency-Key`.',
  rate_unavailable: 'No order is priced at an old rate. Try again as `Retry-After` asks.',
  service_unavailable: 'Try again as `Retry-After` asks, with the same `Idempotency-Key`.',
}
