export { type Postgres, type PostgresOptions, startPostgres } from './postgres'
export { spawnTied } from './tied-process'
