import { getAddress, Interface, id, type JsonRpcProvider, keccak256, type Log, toBeHex } from 'ethers'
import { paymentRouterAbi } from '../artifacts/payment-router'
import { probe, type Question } from '../deployment/state-probe'
import { depositImplementation } from '../deposit-address'
import { PAYMENT_RECEIVED_TOPIC } from '../payment/payment-received'
import { splitFee } from '../split-fee'

/** State of one router that the token's issuer, or strangers, may have changed since its deployment was verified. */
export interface ContractState {
  /** The implementation behind the token's proxy; the hash of the token's own code when it is no proxy. */
  tokenImplementation: string
  tokenPaused: boolean
  /** Which of the accounts that were asked about the token blocks, the router and its fee receiver among them. */
  blocked: string[]
  /** Money where none belongs, in units of the token or in wei. */
  strays: { account: string; asset: 'token' | 'native'; amount: bigint }[]
  /** Transactions in which a fee was due and none was taken. */
  withoutFee: string[]
}

export interface WatchedRouter {
  usdcAddress: string
  routerAddress: string
  /** Accounts of ours besides the router and its fee receiver. */
  accounts: readonly string[]
  fromBlock: number
  toBlock: number
}

const token = new Interface([
  'function paused() view returns (bool)',
  'function isBlacklisted(address) view returns (bool)',
  'function balanceOf(address) view returns (uint256)',
])
const router = new Interface(paymentRouterAbi)

/** Where proxies keep their implementation: ERC-1967, and the older place that Circle's FiatTokenProxy uses. */
const IMPLEMENTATION_SLOTS = [toBeHex(BigInt(id('eip1967.proxy.implementation')) - 1n, 32), id('org.zeppelinos.proxy.implementation')]

async function implementationOf(provider: JsonRpcProvider, address: string): Promise<string> {
  const words = await Promise.all(IMPLEMENTATION_SLOTS.map(slot => provider.getStorage(address, slot)))
  const found = words.find(word => BigInt(word) !== 0n)
  return found === undefined ? keccak256(await provider.getCode(address)) : getAddress(`0x${found.slice(-40)}`)
}

/** Whether `PaymentReceived` reports no fee although one was due. */
function lacksFee({ data }: Log, feeBps: number): boolean {
  const [share, fee] = [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66, 130)}`)]
  return fee === 0n && splitFee(share, feeBps).fee > 0n
}

async function strayAmounts(provider: JsonRpcProvider, holders: readonly string[], units: readonly unknown[]) {
  const wei = await Promise.all(holders.map(account => provider.getBalance(account)))
  return holders.flatMap((account, index) => [
    { account, asset: 'token' as const, amount: BigInt(String(units[index] ?? 0)) },
    { account, asset: 'native' as const, amount: wei[index] ?? 0n },
  ])
}

/** Reads it from one node, whose word is taken: it decides what is looked into, and moves no money. */
export async function readContractState(provider: JsonRpcProvider, watched: WatchedRouter): Promise<ContractState> {
  const { usdcAddress, routerAddress, fromBlock, toBlock } = watched
  const ask = (method: string, ...values: unknown[]): Question => ({ target: usdcAddress, of: token, method, values })
  const terms = await probe(
    provider,
    {
      feeBps: { target: routerAddress, of: router, method: 'feeBps' },
      feeReceiver: { target: routerAddress, of: router, method: 'feeReceiver' },
    },
    [],
  )
  const { feeBps, feeReceiver } = terms.answers
  if (typeof feeReceiver.value !== 'string') throw new Error(`no router answers at ${routerAddress}`)
  const accounts = [routerAddress, feeReceiver.value, ...watched.accounts].map(account => getAddress(account))
  const holders = [routerAddress, depositImplementation(routerAddress)].map(account => getAddress(account))
  const questions = {
    paused: ask('paused'),
    ...Object.fromEntries(accounts.map(account => [`blocked ${account}`, ask('isBlacklisted', account)])),
    ...Object.fromEntries(holders.map(account => [`held ${account}`, ask('balanceOf', account)])),
  } as Record<string, Question>
  const { answers } = await probe(provider, questions, [])
  const answerTo = (name: string) => answers[name]?.value
  const logs = await provider.getLogs({ address: routerAddress, topics: [PAYMENT_RECEIVED_TOPIC], fromBlock, toBlock })
  const held = holders.map(account => answerTo(`held ${account}`))
  return {
    tokenImplementation: await implementationOf(provider, usdcAddress),
    tokenPaused: answerTo('paused') === true,
    blocked: accounts.filter(account => answerTo(`blocked ${account}`) === true),
    strays: (await strayAmounts(provider, holders, held)).filter(({ amount }) => amount > 0n),
    withoutFee: logs.filter(log => lacksFee(log, Number(feeBps.value))).map(({ transactionHash }) => transactionHash),
  }
}
