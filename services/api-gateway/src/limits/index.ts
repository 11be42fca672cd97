export { addressBucket, networkOf } from './address-bucket'
export { type Concurrency, limitConcurrency } from './concurrency'
export { limitAddress, limitCaller } from './limit-handlers'
export { type Lease, localLimit, sharedLimit, type Verdict, WINDOW_MS } from './rate-limit'
