export {
  type Anvil,
  type AnvilOptions,
  type Fault,
  type FaultProxy,
  faults,
  type LocalChain,
  type LocalChainOptions,
  mined,
  openProvider,
  type Payment,
  PortTakenError,
  startAnvil,
  startFaultProxy,
  startLocalChain,
  testAccounts,
} from './anvil'
export { freePort } from './ports'
export { type Postgres, type PostgresOptions, startPostgres } from './postgres'
export { spawnTied } from './tied-process'
