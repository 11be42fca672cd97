export * from './log-fields'
export * from './logger'
export * from './metrics'
export * from './trace'
