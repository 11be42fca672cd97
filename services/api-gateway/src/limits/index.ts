export { addressBucket, networkOf } from './address-bucket'
export { type Concurrency, limitConcurrency } from './concurrency'
export { enforce, limitAddress, limitCaller } from './limit-handlers'
export { failureLimit, type Lease, localLimit, sharedLimit, type Verdict, WINDOW_MS } from './rate-limit'
