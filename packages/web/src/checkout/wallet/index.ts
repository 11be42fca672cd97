export { authorize, handIn } from './authorize'
export { outcomeOf, payWithWallet, type Step } from './pay'
export { useWallets, type Wallet } from './provider'
export { Refusal, type RefusalKind, refusalOf } from './refusal'
