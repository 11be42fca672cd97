export { checkoutRoutes, liveViews, PAYERS_PATHS } from './checkout-routes'
export { HEARTBEAT_MS, type LiveCheckout, type LiveView, liveCheckout, REFRESHED_AT_ONCE } from './live-checkout'
