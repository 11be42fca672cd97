export { prepareDemoMerchant } from './demo'
export { createIdentityProvider } from './identity/provider'
export { totpCode } from './identity/totp'
export { localRoutes } from './local-routes'
export { payerRoutes } from './payer/payer-routes'
export { createSamplePayer } from './payer/sample-payer'
export {
  databaseName,
  type Environment,
  environments,
  otherListeners,
  type Place,
  type ProcessName,
  processNames,
  type ServiceName,
  serviceNames,
} from './places'
export { type Processes, type Replica, startProcesses } from './processes/processes'
export { endProcess, hasEnded, isReady, mainOf, OUTPUT_MAX, startProgram } from './processes/program'
export { startWithSandbox } from './sandbox/start'
export { migrations, type System, startAll } from './start-all'
export { openState } from './state'
export { createWebhookReceiver } from './webhook-receiver'
