export { createExpiryWatch } from './expiry-watch'
export { chainIdsOf } from './networks'
export { startNotingReceiver } from './noting-receiver'
export { openApiValidator } from './openapi-validator'
export { buildRelease } from './release'
export { type Replicas, type ReplicasOptions, startReplicas } from './replicas'
export { merchant, runSystem, system, world } from './run-system'
export { type Served, startServed } from './served'
export {
  askGateway,
  call,
  createMerchant,
  GASLESS,
  jsonRequest,
  logIn,
  MERCHANT,
  PAYER,
  pay,
  RELAYER,
  startWorld,
  units,
  type World,
} from './world'
