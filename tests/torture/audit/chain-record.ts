import type { LocalChain } from '@ponte/local-servers'
import { paymentRouterAbi } from '@ponte/payment-router'
import { Contract, id, type Log } from 'ethers'
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

export interface ChainRecord {
  payments: ChainPayment[]
  sweeps: Flow[]
  addresses: ReadonlyMap<string, { memo: string; merchant: string }>
}

const PAYMENT_RECEIVED = id('PaymentReceived(bytes32,address,address,uint256,uint256)')
const wordAt = (data: string, index: number) => BigInt(`0x${data.slice(2 + 64 * index, 66 + 64 * index)}`)

/** Every payment and every sweep of the canonical chains. The router itself is asked which addresses belong to the orders, which are the same on each. */
export async function chainRecord({ chains, routers, ledger }: Pick<Audited, 'chains' | 'routers' | 'ledger'>): Promise<ChainRecord> {
  const [{ provider, routerAddress }] = chains
  const orders = await ledger.query('orders', 'SELECT memo, lower(merchant_address) AS merchant FROM orders')
  const router = new Contract(routerAddress, paymentRouterAbi, provider)
  const addresses = new Map(
    await Promise.all(
      orders.map(async row => {
        const terms = { memo: String(row.memo), merchant: String(row.merchant) }
        const address: string = await router.getFunction('depositAddress')(`0x${terms.memo}`, terms.merchant)
        return [address.toLowerCase(), terms] as const
      }),
    ),
  )
  const moved = await Promise.all(chains.map(chain => movedOn(chain, routers, addresses)))
  const throughRouters = moved.flatMap(({ received }) => received)
  const isSweep = ({ payer, memo }: { payer: string; memo: string }) => addresses.get(payer)?.memo === memo
  return {
    addresses,
    sweeps: throughRouters.filter(isSweep).map(flow => ({ ...flow, deposit: flow.payer })),
    payments: [
      ...throughRouters.filter(flow => !isSweep(flow)).map(flow => ({ ...flow, kind: 'router' as const })),
      ...moved.flatMap(({ sent }) => sent),
    ],
  }
}

async function movedOn(chain: LocalChain, routers: readonly string[], addresses: ChainRecord['addresses']) {
  const { provider, usdcAddress } = chain
  const all = { fromBlock: 0, toBlock: 'latest' }
  const received = await provider.getLogs({ ...all, address: [...routers], topics: [PAYMENT_RECEIVED] })
  const transfers = await provider.getLogs({ ...all, address: usdcAddress, topics: [TRANSFER] })
  return { received: received.map(log => toRouterFlow(chain, log)), sent: transfers.flatMap(log => toTransfer(chain, log, addresses)) }
}

function toRouterFlow(chain: LocalChain, { transactionHash, topics, data }: Log): Flow & { payer: string } {
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

function toTransfer(chain: LocalChain, { transactionHash, topics, data }: Log, addresses: ChainRecord['addresses']): ChainPayment[] {
  const deposit = addressIn(topics[2])
  const terms = addresses.get(deposit)
  if (!terms) return []
  return [{ kind: 'transfer', chain, txHash: transactionHash, ...terms, deposit, gross: wordAt(data, 0), share: 0n }]
}
