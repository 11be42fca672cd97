export { depositAddressAbi } from './artifacts/deposit-address'
export { paymentRouterAbi } from './artifacts/payment-router'
export { testRateFeedAbi } from './artifacts/test-rate-feed'
export { testUsdcAbi } from './artifacts/test-usdc'
export { deployContractWallet } from './contract-wallet'
export { AddressTakenError, type DeployedContracts, type DeployOptions, deployContracts, deployRouter, type RouterTerms } from './deploy'
export { depositAddress, depositImplementation, isDepositAddress } from './deposit-address'
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
export { factoryAddress, type RouterIdentity, routerAddress } from './router-address'
export { splitFee } from './split-fee'
export { type SupportedChain, supportedChains } from './supported-chains'
export { type TestSweep, testSweep } from './test-sweep'
export { DeploymentMismatchError, type ExpectedDeployment, verifyDeployment, verifyToken } from './verify'
