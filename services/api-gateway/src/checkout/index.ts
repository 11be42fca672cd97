export { checkoutRoutes, liveViews, PAYERS_PATHS } from './checkout-routes'
export { HEARTBEAT_MS, type LiveCheckout, type LiveView, liveCheckout } from './live-checkout'
