export { clock, useSecondsUntil } from './countdown'
export { type LiveCheckout, useLiveCheckout } from './live-checkout'
export { inOneTab, type SentPayment, useSentPayment } from './sent-payment'
export { useStalled } from './stalled'
