export { isConnectionLoss } from './connection-loss'
export { forward } from './forward'
export { type AuditTrail, forwardedRoutes, type Owners } from './forwarded-routes'
export { type Owner, openOwner } from './owner'
