export * from './every'
export * from './run'
export * from './service'
