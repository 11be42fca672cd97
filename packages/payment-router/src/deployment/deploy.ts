import { setTimeout } from 'node:timers/promises'
import { concat, Interface, type InterfaceAbi, isError, type Provider, type Signer, type TransactionReceipt, ZeroHash } from 'ethers'
import { routerFactoryAbi } from '../artifacts/router-factory'
import { testRateFeedAbi, testRateFeedBytecode } from '../artifacts/test-rate-feed'
import { testUsdcAbi, testUsdcBytecode } from '../artifacts/test-usdc'
import { DETERMINISTIC_DEPLOYER, factoryAddress, factoryInitCode, routerAddress, routerInitCode } from './router-address'
import { factoryCode, routerCode } from './runtime-code'

export interface RouterTerms {
  /** The token that payments are made in. It does not change the router's address. */
  usdcAddress: string
  /** Basis points, 0 to 1,000 (10 %). */
  feeBps: number
  feeReceiver: string
  /** Distinguishes routers of the same terms; 0x and 64 hex, zero by default. */
  salt?: string
}

export interface DeployOptions {
  feeBps: number
  feeReceiver: string
  /** Dollars per real with eight decimals; 18,450,184 by default, which is 5.42 reais to the dollar. */
  brlUsd?: bigint
}

export interface DeployedContracts {
  usdcAddress: string
  routerAddress: string
  rateFeedAddress: string
}

/** Something else stands where a contract was to be deployed. Nothing was sent. */
export class AddressTakenError extends Error {
  override name = 'AddressTakenError'
}

const BRL_USD = 18_450_184n
const POLL_MS = 100

const factory = Interface.from(routerFactoryAbi)

type Send = (transaction: { to?: string; data: string }) => Promise<TransactionReceipt>

/** Sends one transaction after the other. Nonces are counted here: a provider remembers its answers and would give one twice. */
async function openSender(signer: Signer): Promise<{ send: Send; provider: Provider }> {
  const { provider } = signer
  if (provider === null) throw new Error('deploying needs a signer that is connected to a provider')
  let nonce = await signer.getNonce('pending')
  const send: Send = async transaction => {
    const { hash } = await signer.sendTransaction({ ...transaction, nonce })
    nonce += 1
    // The provider's own waiting looks every four seconds, too slow for a chain that mines at once.
    let receipt = await provider.getTransactionReceipt(hash)
    while (receipt === null) {
      await setTimeout(POLL_MS)
      receipt = await provider.getTransactionReceipt(hash)
    }
    return receipt
  }
  return { send, provider }
}

/**
 * Sees to it that `code` stands at `address`; it may stand there already. Another deployment of the same may be quicker, so the chain's
 * state decides, not the transaction's outcome. Nothing is sent while anything else stands there.
 */
async function ensureCode(provider: Provider, contract: { name: string; address: string; code: string }, create: () => Promise<unknown>) {
  const { name, address, code } = contract
  const stands = async () => {
    const found = await provider.getCode(address)
    if (found !== '0x' && found !== code) throw new AddressTakenError(`the ${name}'s address ${address} holds other code or another token`)
    return found === code
  }
  if (await stands()) return
  let refusal: unknown
  try {
    await create()
  } catch (error) {
    if (!isError(error, 'CALL_EXCEPTION')) throw error
    refusal = error
  }
  if (!(await stands())) throw refusal ?? new Error(`the ${name} was not deployed at ${address}`)
}

async function ensureRouter({ send, provider }: { send: Send; provider: Provider }, deployer: string, terms: RouterTerms): Promise<string> {
  const { usdcAddress, salt = ZeroHash } = terms
  if ((await provider.getCode(DETERMINISTIC_DEPLOYER)) === '0x')
    throw new Error(`this chain has no deterministic deployment proxy at ${DETERMINISTIC_DEPLOYER}`)
  const place = factoryAddress(deployer)
  await ensureCode(provider, { name: 'factory', address: place, code: factoryCode(deployer) }, () =>
    send({ to: DETERMINISTIC_DEPLOYER, data: concat([ZeroHash, factoryInitCode(deployer)]) }),
  )
  const address = routerAddress({ ...terms, deployer })
  await ensureCode(provider, { name: 'router', address, code: routerCode(address, terms) }, () =>
    send({ to: place, data: factory.encodeFunctionData('deploy', [salt, routerInitCode(terms), usdcAddress]) }),
  )
  return address
}

/**
 * Deploys a PaymentRouter for a token that exists, and the signer's factory when it does not stand yet. Answers the router's address, which
 * depends on the signer, fee, fee receiver and salt alone; a router that stands already with the right code and token is a success.
 * What is given here can never be changed. Rejects with AddressTakenError, and with ethers' CALL_EXCEPTION when the router refuses the
 * terms (no token there, a fee above 10 %, a fee receiver that is zero or the token).
 */
export async function deployRouter(signer: Signer, terms: RouterTerms): Promise<string> {
  return ensureRouter(await openSender(signer), await signer.getAddress(), terms)
}

/**
 * Deploys everything a local chain needs: TestUSDC, a PaymentRouter for it, TestRateFeed. Anyone may mint that token and set that rate, so it
 * is for chains without real money. The addresses follow from the signer, and token and feed also from its nonce.
 */
export async function deployContracts(signer: Signer, options: DeployOptions): Promise<DeployedContracts> {
  const sender = await openSender(signer)
  const create = async (abi: InterfaceAbi, bytecode: string, values: readonly unknown[]): Promise<string> => {
    const { contractAddress, status, hash } = await sender.send({ data: concat([bytecode, Interface.from(abi).encodeDeploy(values)]) })
    if (status !== 1 || contractAddress === null) throw new Error(`the deployment in transaction ${hash} failed`)
    return contractAddress
  }
  const usdcAddress = await create(testUsdcAbi, testUsdcBytecode, [])
  const routerAddress = await ensureRouter(sender, await signer.getAddress(), { ...options, usdcAddress })
  const rateFeedAddress = await create(testRateFeedAbi, testRateFeedBytecode, [options.brlUsd ?? BRL_USD])
  return { usdcAddress, routerAddress, rateFeedAddress }
}
