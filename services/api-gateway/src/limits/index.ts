export { addressBucket } from './address-bucket'
export { limitAddress, limitCaller } from './limit-handlers'
export { type Lease, localLimit, sharedLimit, type Verdict, WINDOW_MS } from './rate-limit'
