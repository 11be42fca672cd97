export { checkoutRoutes, checkoutView } from './checkout-routes'
export { HEARTBEAT_MS, type LiveCheckout, liveCheckout } from './live-checkout'
