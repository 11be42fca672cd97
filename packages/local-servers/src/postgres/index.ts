export { type Postgres, type PostgresOptions, startPostgres } from './server'
