export { type Anvil, type AnvilOptions, PortTakenError, startAnvil } from './anvil/anvil'
export { type Fault, type FaultProxy, faults, startFaultProxy } from './anvil/fault-proxy'
export {
  chainActions,
  ensureContracts,
  type LocalChain,
  type LocalChainOptions,
  mined,
  openProvider,
  type Payment,
  startLocalChain,
} from './anvil/local-chain'
export { testAccounts } from './anvil/test-accounts'
export { findChromium } from './chromium'
export { type Crashable, type CrashableServers, startCrashableServers } from './crashable'
export { findProgram, installDebianPackage, requireProgram } from './debian'
export { type HttpServer, startHttpServer } from './http-server'
export { freePort } from './ports'
export { ensureDatabases, type Postgres, type PostgresOptions, startPostgres } from './postgres/server'
export { type Rabbitmq, startRabbitmq } from './rabbitmq'
export { type Direction, startTcpProxy, type TcpProxy } from './tcp-proxy'
export { startTestServers, type TestServers } from './test-servers'
export { spawnTied } from './tied-process'
