export * from './adoption'
