export * from './testing/process-table'
export * from './testing/schema-differences'
export * from './testing/test-database'
