export { checkoutRoutes, liveViews } from './checkout-routes'
export { HEARTBEAT_MS, type LiveCheckout, type LiveView, liveCheckout } from './live-checkout'
