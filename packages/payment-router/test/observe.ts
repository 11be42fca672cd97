import { randomBytes } from 'node:crypto'
import { type LocalChain, mined } from '@ponte/local-servers'
import { Contract, hexlify, Interface, type InterfaceAbi, isError, type TransactionReceipt, Wallet } from 'ethers'
import {
  deployRouter,
  depositAddress,
  depositAddressAbi,
  PAYMENT_RECEIVED_TOPIC,
  paymentRouterAbi,
  type RouterTerms,
  testUsdcAbi,
} from '../src'
import { unrulyTokenAbi, unrulyTokenBytecode } from './artifacts/unruly-token'

const routerErrors = new Interface([...paymentRouterAbi, ...[...testUsdcAbi, ...depositAddressAbi].filter(entry => entry.type === 'error')])

export const randomMemo = (): string => hexlify(randomBytes(32))
export const randomAddress = (): string => Wallet.createRandom().address

export interface Deposit {
  memo: string
  merchant: string
  address: string
}

export function newDeposit({ routerAddress: router }: LocalChain, merchant = randomAddress()): Deposit {
  const memo = randomMemo()
  return { memo, merchant, address: depositAddress({ router, memo, merchant }) }
}

/** The router as `signer` sees it; it can also name the errors of the contracts that the router calls. */
export function routerOf(chain: LocalChain, signer: Wallet, address = chain.routerAddress): Contract {
  return new Contract(address, routerErrors, signer)
}

export function usdcOf(chain: LocalChain, signer: Wallet, address = chain.usdcAddress): Contract {
  return new Contract(address, testUsdcAbi, signer)
}

export async function send(contract: Contract, method: string, ...values: unknown[]): Promise<TransactionReceipt> {
  return mined(contract.getFunction(method).send(...values))
}

export async function read<Value>(contract: Contract, method: string, ...values: unknown[]): Promise<Value> {
  return contract.getFunction(method).staticCall(...values)
}

/** Calls without sending and answers why it would fail: an error's name and values, or a reason in words. */
export async function refusal(contract: Contract, method: string, ...values: unknown[]): Promise<unknown[]> {
  try {
    await contract.getFunction(method).staticCall(...values)
  } catch (error) {
    if (!isError(error, 'CALL_EXCEPTION')) throw error
    if (error.revert === null || error.revert === undefined) return [error.reason ?? error.data]
    return error.revert.name === 'Error' ? [...error.revert.args] : [error.revert.name, ...error.revert.args]
  }
  throw new Error(`${method} would succeed`)
}

/** Deploys from a test account that anvil signs for, which is much faster than signing some kilobytes here. */
export async function deployArtifact(
  chain: LocalChain,
  artifact: { abi: InterfaceAbi; bytecode: string },
  ...values: unknown[]
): Promise<string> {
  const data = `${artifact.bytecode}${Interface.from(artifact.abi).encodeDeploy(values).slice(2)}`
  const { contractAddress } = await mined((await chain.provider.getSigner(0)).sendTransaction({ data }))
  if (contractAddress === null) throw new Error('nothing was deployed')
  return contractAddress
}

/** A token that burns so many basis points of every transfer and can calls back in the middle of it. */
export async function deployUnrulyToken(chain: LocalChain, cutBps: number): Promise<Contract> {
  const address = await deployArtifact(chain, { abi: unrulyTokenAbi, bytecode: unrulyTokenBytecode }, cutBps)
  return new Contract(address, unrulyTokenAbi, chain.wallet(0))
}

export async function deployRouterFor(chain: LocalChain, changes: Partial<RouterTerms> = {}): Promise<string> {
  const { usdcAddress, feeBps, feeReceiver } = chain
  // Routers of the same terms differ by their salt, whatever their token.
  return deployRouter(await chain.provider.getSigner(0), { usdcAddress, feeBps, feeReceiver, salt: randomMemo(), ...changes })
}

/** Every PaymentReceived of a transaction as [memo, merchant, payer, merchantShare, fee]. */
export function payments(receipt: TransactionReceipt): unknown[][] {
  return receipt.logs.filter(log => log.topics[0] === PAYMENT_RECEIVED_TOPIC).map(log => [...(routerErrors.parseLog(log)?.args ?? [])])
}

/** Every event of the router by this name, as its values. */
export function emitted(receipt: TransactionReceipt, name: string): unknown[][] {
  return receipt.logs.map(log => routerErrors.parseLog(log)).flatMap(event => (event?.name === name ? [[...event.args]] : []))
}

export async function balances(chain: LocalChain, ...accounts: string[]): Promise<bigint[]> {
  const usdc = new Contract(chain.usdcAddress, testUsdcAbi, chain.provider)
  return Promise.all(accounts.map(account => read<bigint>(usdc, 'balanceOf', account)))
}

export function printGas(path: string, receipt: TransactionReceipt): void {
  process.stdout.write(`gas  ${path.padEnd(62)} ${receipt.gasUsed}\n`)
}
