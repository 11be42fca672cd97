export { type Anvil, type AnvilOptions, PortTakenError, startAnvil } from './anvil'
export { type Fault, type FaultProxy, faults, startFaultProxy } from './fault-proxy'
export { chainActions, type LocalChain, type LocalChainOptions, mined, openProvider, type Payment, startLocalChain } from './local-chain'
export { testAccounts } from './test-accounts'
