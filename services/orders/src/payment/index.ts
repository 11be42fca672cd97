export * from './authorization'
export * from './mismatch'
export * from './payment'
export * from './settlement'
