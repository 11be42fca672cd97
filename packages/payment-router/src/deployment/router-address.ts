import { AbiCoder, concat, getCreate2Address, keccak256, ZeroHash } from 'ethers'
import { paymentRouterBytecode } from '../artifacts/payment-router'
import { routerFactoryBytecode } from '../artifacts/router-factory'

/** A router's address follows from these and its own code. The token plays no part, so the address is the same on every chain. */
export interface RouterIdentity {
  /** The account that deploys: the factory is bound to it. */
  deployer: string
  /** Basis points, 0 to 1,000 (10 %). */
  feeBps: number
  feeReceiver: string
  /** Distinguishes routers of the same terms; 0x and 64 hex, zero by default. */
  salt?: string | undefined
}

/** The deterministic deployment proxy, which stands at this address on every supported chain. Its input is a salt and an init code. */
export const DETERMINISTIC_DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

const withArguments = (code: string, types: string[], values: unknown[]) => concat([code, AbiCoder.defaultAbiCoder().encode(types, values)])

export const factoryInitCode = (deployer: string): string => withArguments(routerFactoryBytecode, ['address'], [deployer])

/** Where the factory of this deployer stands, on every chain. */
export const factoryAddress = (deployer: string): string =>
  getCreate2Address(DETERMINISTIC_DEPLOYER, ZeroHash, keccak256(factoryInitCode(deployer)))

export const routerInitCode = ({ feeBps, feeReceiver }: Pick<RouterIdentity, 'feeBps' | 'feeReceiver'>): string =>
  withArguments(paymentRouterBytecode, ['uint256', 'address'], [feeBps, feeReceiver])

/** Where this router stands, on every chain, whether or not it is deployed there. */
export const routerAddress = (of: RouterIdentity): string =>
  getCreate2Address(factoryAddress(of.deployer), of.salt ?? ZeroHash, keccak256(routerInitCode(of)))
