export { isConnectionLoss } from './connection-loss'
export { forward } from './forward'
export { forwardedRoutes, type Owners } from './forwarded-routes'
export { type Owner, openOwner } from './owner'
