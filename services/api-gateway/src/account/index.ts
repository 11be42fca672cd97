export { own } from './changes'
export { merchantRoutes } from './merchant-routes'
export { activatePayoutChanges, payoutRoutes } from './payout-routes'
