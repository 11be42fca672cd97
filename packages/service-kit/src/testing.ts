export * from './testing/bench'
export * from './testing/process-table'
export * from './testing/random'
export * from './testing/test-database'
