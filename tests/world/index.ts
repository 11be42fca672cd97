export { startNotingReceiver } from './noting-receiver'
export { openApiValidator } from './openapi-validator'
export { endProcess, isReady, mainOf, startProgram } from './process'
export { type Processes, startProcesses } from './processes'
export { buildRelease } from './release'
export { type Replicas, type ReplicasOptions, startReplicas } from './replicas'
export {
  askGateway,
  call,
  createMerchant,
  GASLESS,
  jsonRequest,
  MERCHANT,
  PAYER,
  pay,
  RELAYER,
  startWorld,
  units,
  type World,
} from './world'
