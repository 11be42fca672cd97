import type { problemsPt } from './problems-pt'

/** What is wrong with a field, a request, an address or the connection. */
export const problemsEn: typeof problemsPt = {
  faults: {
    required: 'Fill in this field.',
    email: 'Write an email address, such as ana@shop.com.',
    weakPassword: 'Use at least 8 characters.',
    amount: 'Write an amount of reais above zero, with at most two digits of cents: 1,500.00.',
    address: 'This is not an address: copy it from your wallet again, all of it. It is 0x and 40 letters and digits, and capitals count.',
    webUrl: 'Write an address that begins with https:// and holds no password.',
    periods: 'Write a whole number, or leave it empty.',
  },
  failures: {
    title: 'That did not work',
    other: 'The service did not accept the request. If it repeats, talk to support.',
    unreachable: 'The service does not answer. Check the connection; we try again by ourselves.',
    invalid_request: 'One of the fields is not right.',
    rate_limited: 'Too many requests in a short time. Wait a minute.',
    service_unavailable: 'A part of the service does not answer now. Try again shortly.',
    rate_unavailable: 'There is no fresh exchange rate. Try again shortly.',
    payout_address_required: 'The payout address is missing. Set it in Settings.',
    payout_address_refused: 'This address cannot be paid. Set another in Settings.',
    order_has_payments: 'The order has received money and cannot be cancelled.',
    invalid_state: 'Its present state does not allow this.',
    not_due: 'The current period is already charged.',
    not_found: 'We cannot find what you are looking for.',
    forbidden: 'This belongs to another merchant.',
    merchant_exists: 'This account already has a store. Reload the page.',
    idempotency_in_progress: 'The same request is still running. Wait a moment.',
    idempotency_mismatch: 'The fields changed after they were sent. Close the form and open it again.',
    invalid_jwt: 'The session is over. Log in again.',
    internal_error: 'Something failed on our side. If it repeats, talk to support.',
  },
  missing: {
    page: 'Page not found',
    order: 'Order not found',
    subscription: 'Subscription not found',
    delivery: 'Delivery not found',
    text: 'The address of this page leads to nothing of your store. See that it is complete.',
  },
  offline: 'No connection. What you see may be old; the page catches up by itself when it is back.',
}
