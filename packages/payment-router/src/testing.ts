export { type Anvil, type AnvilOptions, PortTakenError, startAnvil } from './anvil'
export { type LocalChain, type LocalChainOptions, mined, openProvider, type Payment, startLocalChain } from './local-chain'
export { testAccounts } from './test-accounts'
