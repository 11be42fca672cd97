export {
  type Anvil,
  type AnvilOptions,
  chainActions,
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
export { findChromium } from './chromium'
export { type Crashable, type CrashableServers, startCrashableServers } from './crashable'
export { findProgram, installDebianPackage, requireProgram } from './debian'
export { freePort } from './ports'
export { type Postgres, type PostgresOptions, startPostgres } from './postgres'
export { type Rabbitmq, startRabbitmq } from './rabbitmq'
export { startTestServers, type TestServers } from './test-servers'
export { spawnTied } from './tied-process'
