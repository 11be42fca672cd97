export * from './csv'
export * from './csv-file'
