export * from './database'
export * from './errors'
export * from './outbox-rows'
export * from './unit-of-work'
