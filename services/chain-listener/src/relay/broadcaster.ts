import type { Logger } from '@ponte/service-kit'
import { keccak256, type Wallet } from 'ethers'
import type { ChainClient } from '../rpc/chain-client'
import { type Price, priceAt, raised } from './price'
import type { Relay, RelayStore } from './store/transactions'

export interface BroadcasterOptions {
  chain: ChainClient
  store: RelayStore
  wallet: Wallet
  chainId: number
  /** Most native coin offered for a unit of gas. */
  ceiling: bigint
  stuckMs: number
  now: () => Date
  logger: Logger
  repriced(kind: Relay['kind']): void
}

const REBROADCAST_MS = 5_000
const TAKEN = /already known|already imported|known transaction|nonce too low|already exists/i

export type Broadcaster = ReturnType<typeof createBroadcaster>

/** Broadcasts signed transactions: sent, sent again, and at a higher price when they are not mined. */
export function createBroadcaster({ chain, store, wallet, ceiling, logger, now, ...options }: BroadcasterOptions) {
  const sentAt = new Map<string, number>()

  const sign = async (relay: Pick<Relay, 'nonce' | 'target' | 'data' | 'gasLimit'>, price: Price) => {
    const { nonce, target: to, data, gasLimit } = relay
    const raw = await wallet.signTransaction({ type: 2, chainId: options.chainId, nonce, to, data, gasLimit, ...feesOf(price) })
    return { raw, maxPrice: price.max, tip: price.tip, hash: keccak256(raw) }
  }
  const broadcast = async ({ hash, raw }: { hash: string; raw: string }) => {
    sentAt.set(hash, performance.now())
    const refusal = await chain.send(raw)
    if (refusal === undefined || TAKEN.test(refusal)) return
    logger.warn('a transaction was refused and will be sent again', { hash, detail: refusal.slice(0, 300) })
  }
  /** The same transaction at a higher price; undefined at the ceiling. */
  const reprice = async (epoch: bigint, relay: Relay) => {
    const market = await chain.market()
    const price = raised({ max: relay.maxPrice, tip: relay.tip }, priceAt(market.baseFee, market.tip, ceiling), ceiling)
    if (!price) return undefined
    const offer = await sign(relay, price)
    await store.reprice(epoch, wallet.address.toLowerCase(), relay.nonce, offer, now())
    options.repriced(relay.kind)
    logger.info('a stuck transaction is offered a higher price', { nonce: relay.nonce, hash: offer.hash, max_price: String(price.max) })
    return offer
  }
  return {
    sign,
    broadcast,
    /** Sends again what is not mined: dearer when it is stuck, at once when it was never sent or `atOnce`. */
    async push(epoch: bigint, relay: Relay, atOnce: boolean): Promise<void> {
      const isStuck = now().getTime() - relay.pricedAt.getTime() >= options.stuckMs
      const dearer = isStuck ? await reprice(epoch, relay) : undefined
      if (dearer) return broadcast(dearer)
      const [hash, raw] = [relay.hashes.at(-1), relay.raws.at(-1)]
      if (hash === undefined || raw === undefined) return
      const last = sentAt.get(hash)
      if (last === undefined || atOnce || performance.now() - last >= REBROADCAST_MS) await broadcast({ hash, raw })
    },
    /** It is mined: should a reorganisation take it away, it is sent again at once. */
    forget(hashes: readonly string[]): void {
      for (const hash of hashes) sentAt.delete(hash)
    },
  }
}

const feesOf = ({ max, tip }: Price) => ({ maxFeePerGas: max, maxPriorityFeePerGas: tip })
