export * from './every'
export * from './retention'
export * from './run'
export * from './service'
