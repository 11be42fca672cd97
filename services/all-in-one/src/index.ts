export { createIdentityProvider } from './identity'
export { type Environment, environments, type Place, type ServiceName, serviceNames } from './places'
export { type System, startAll } from './start-all'
export { createWebhookReceiver } from './webhook-receiver'
