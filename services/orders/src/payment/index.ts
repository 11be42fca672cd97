export * from './mismatch'
export * from './payment'
export * from './settlement'
