export * from './endpoint'
