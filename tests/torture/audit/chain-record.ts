import type { LocalChain } from '@ponte/local-servers'
import { paymentRouterAbi } from '@ponte/payment-router'
import { Contract, id, type Log } from 'ethers'
import { orderPayoutOn } from '../../audit/networks'
import type { Audited } from '.'
import { addressIn, TRANSFER } from './transfers'

/** One movement of the token, read from its chain alone. Addresses are lower-case, amounts in units. */
export interface Flow {
  chain: LocalChain
  txHash: string
  memo: string
  merchant: string
  /** The deposit address that was paid or swept; null for a payment through the router. */
  deposit: string | null
  gross: bigint
  /** Paid out by the router to the merchant; nothing for a transfer, which only its sweep pays out. */
  share: bigint
}

export interface ChainPayment extends Flow {
  kind: 'router' | 'transfer'
}

/** An order on one chain: its memo, and where its merchant is paid there. */
export interface Terms {
  memo: string
  merchant: string
  merchantId: string
}

/** By deposit address. */
type Addresses = ReadonlyMap<string, Terms>

export interface ChainRecord {
  payments: ChainPayment[]
  sweeps: Flow[]
  /** Of the orders, on each chain. */
  addresses: ReadonlyMap<LocalChain, Addresses>
}

const PAYMENT_RECEIVED = id('PaymentReceived(bytes32,address,address,uint256,uint256)')
const wordAt = (data: string, index: number) => BigInt(`0x${data.slice(2 + 64 * index, 66 + 64 * index)}`)

/**
 * Every payment and every sweep of the canonical chains. The router itself is asked which addresses belong to the orders, each with the merchant's address that
 * the order names there, which is held against what was published beside (`ordersAgainstFacts`).
 */
export async function chainRecord({ chains, routers, ledger }: Pick<Audited, 'chains' | 'routers' | 'ledger'>): Promise<ChainRecord> {
  const [{ provider, routerAddress }] = chains
  const orders = await ledger.query('orders', 'SELECT memo, merchant_id, merchant_address, merchant_addresses FROM orders')
  const router = new Contract(routerAddress, paymentRouterAbi, provider)
  const asked = new Map<string, Promise<string>>()
  // The same on each chain.
  const depositAddress = (memo: string, merchant: string): Promise<string> => {
    const address = asked.get(memo + merchant) ?? router.getFunction('depositAddress')(`0x${memo}`, merchant).then(lowerCase)
    asked.set(memo + merchant, address)
    return address
  }
  const addressesOn = async ({ chainId }: LocalChain): Promise<Addresses> =>
    new Map(
      await Promise.all(
        orders.map(async row => {
          const terms = { memo: String(row.memo), merchant: String(orderPayoutOn(row, chainId)), merchantId: String(row.merchant_id) }
          return [await depositAddress(terms.memo, terms.merchant), terms] as const
        }),
      ),
    )
  const addresses = new Map(await Promise.all(chains.map(async chain => [chain, await addressesOn(chain)] as const)))
  const moved = await Promise.all(chains.map(chain => movedOn(chain, routers, addresses.get(chain) ?? new Map())))
  const throughRouters = moved.flatMap(({ received }) => received)
  const isSweep = ({ chain, payer, memo }: RouterFlow) => addresses.get(chain)?.get(payer)?.memo === memo
  return {
    addresses,
    sweeps: throughRouters.filter(isSweep).map(flow => ({ ...flow, deposit: flow.payer })),
    payments: [
      ...throughRouters.filter(flow => !isSweep(flow)).map(flow => ({ ...flow, kind: 'router' as const })),
      ...moved.flatMap(({ sent }) => sent),
    ],
  }
}

const lowerCase = (text: string) => text.toLowerCase()

async function movedOn(chain: LocalChain, routers: readonly string[], addresses: Addresses) {
  const { provider, usdcAddress } = chain
  const all = { fromBlock: 0, toBlock: 'latest' }
  const received = await provider.getLogs({ ...all, address: [...routers], topics: [PAYMENT_RECEIVED] })
  const transfers = await provider.getLogs({ ...all, address: usdcAddress, topics: [TRANSFER] })
  return { received: received.map(log => toRouterFlow(chain, log)), sent: transfers.flatMap(log => toTransfer(chain, log, addresses)) }
}

interface RouterFlow extends Flow {
  payer: string
}

function toRouterFlow(chain: LocalChain, { transactionHash, topics, data }: Log): RouterFlow {
  const [share, fee] = [wordAt(data, 0), wordAt(data, 1)]
  const [, memo = '', merchant, payer] = topics
  return {
    chain,
    txHash: transactionHash,
    memo: memo.slice(2),
    merchant: addressIn(merchant),
    payer: addressIn(payer),
    deposit: null,
    gross: share + fee,
    share,
  }
}

function toTransfer(chain: LocalChain, { transactionHash, topics, data }: Log, addresses: Addresses): ChainPayment[] {
  const deposit = addressIn(topics[2])
  const terms = addresses.get(deposit)
  if (!terms) return []
  const { memo, merchant } = terms
  return [{ kind: 'transfer', chain, txHash: transactionHash, memo, merchant, deposit, gross: wordAt(data, 0), share: 0n }]
}
