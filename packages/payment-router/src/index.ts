export { depositAddressAbi } from './artifacts/deposit-address'
export { paymentRouterAbi } from './artifacts/payment-router'
export { testRateFeedAbi } from './artifacts/test-rate-feed'
export { testUsdcAbi } from './artifacts/test-usdc'
export { deployContractWallet } from './contract-wallet'
export {
  AddressTakenError,
  type DeployedContracts,
  DeploymentMismatchError,
  type DeployOptions,
  deployContracts,
  deployRouter,
  type ExpectedDeployment,
  factoryAddress,
  inspectStrayDeposit,
  type RouterIdentity,
  type RouterTerms,
  routerAddress,
  type StrayDeposit,
  type SupportedChain,
  supportedChains,
  type TestSweep,
  testSweep,
  verifyDeployment,
  verifyToken,
} from './deployment'
export { depositAddress, depositImplementation, isDepositAddress } from './deposit-address'
export { deployHostileWallet, hostileCode } from './hostile-wallet'
export { type ContractState, type RouterSurvey, readContractState, surveyRouter } from './monitor'
export { PAYMENT_RECEIVED_TOPIC } from './payment/payment-received'
export { authorizationNonce } from './payment/payment-terms'
export {
  type AuthorizationTerms,
  type PermitTerms,
  permitTypedData,
  receiveWithAuthorizationTypedData,
  type TokenDomain,
  type TypedData,
} from './payment/typed-data'
export { splitFee } from './split-fee'
