export { depositAddressAbi } from './artifacts/deposit-address'
export { paymentRouterAbi } from './artifacts/payment-router'
export { testRateFeedAbi } from './artifacts/test-rate-feed'
export { testUsdcAbi, testUsdcBytecode } from './artifacts/test-usdc'
export { deployContractWallet } from './contract-wallet'
export type { ChainProfile } from './deployment/chain-profile'
export {
  AddressTakenError,
  type DeployedContracts,
  type DeployOptions,
  deployContracts,
  deployRouter,
  type RouterTerms,
} from './deployment/deploy'
export { modeFault } from './deployment/mode'
export { factoryAddress, type RouterIdentity, routerAddress } from './deployment/router-address'
export { inspectStrayDeposit, type StrayDeposit } from './deployment/stray-deposit'
export { profileOf, type SupportedChain, supportedChains, typicalSeconds } from './deployment/supported-chains'
export { type TestSweep, testSweep } from './deployment/test-sweep'
export { DeploymentMismatchError, type ExpectedDeployment, verifyDeployment, verifyToken } from './deployment/verify'
export { depositAddress, depositImplementation, isDepositAddress } from './deposit-address'
export { deployHostileWallet, hostileCode } from './hostile-wallet'
export { type ContractState, readContractState } from './monitor/contract-state'
export { type RouterSurvey, surveyRouter } from './monitor/router-survey'
export { keccakBytes } from './payment/keccak'
export { PAYMENT_RECEIVED_TOPIC } from './payment/payment-received'
export { authorizationNonce } from './payment/payment-terms'
export {
  type AuthorizationTerms,
  type PermitTerms,
  permitTypedData,
  receiveWithAuthorizationTypedData,
  type TokenDomain,
  type TypedData,
  transferWithAuthorizationTypedData,
} from './payment/typed-data'
export { type HeaderForm, hexBytes, isSealed, quantityBytes, sealedHeader } from './proof/header'
export { encodeHex, type HexItem } from './proof/hex-rlp'
export { coveredReceipts, proofOfReceipt, type RawReceipt, type ReceiptForm, receiptsRoot } from './proof/receipts'
export { splitFee } from './split-fee'
