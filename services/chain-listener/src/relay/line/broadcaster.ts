import type { Logger } from '@ponte/service-kit'
import { Transaction } from 'ethers'
import type { ChainClient } from '../../rpc/chain-client'
import type { Signer } from '../signer/signer'
import type { Relay, RelayStore } from '../store/transactions'
import { ceilingBelow, type Price, priceAt, raised, smaller } from './price'

export interface BroadcasterOptions {
  chain: ChainClient
  store: RelayStore
  signer: Signer
  chainId: number
  /** Most native coin offered for a unit of gas. */
  ceiling: bigint
  stuckMs: number
  /** Open for so long, a transaction is replaced by one that does nothing. */
  giveUpMs: number
  now: () => Date
  logger: Logger
  repriced(kind: Relay['kind'], isNoop: boolean): void
}

const REBROADCAST_MS = 5_000
/** A node that refuses the same transaction so often will never take it. */
const REFUSALS_MAX = 3
/** Time, money or a higher price repairs these. */
const PASSING = /insufficient funds|underpriced|nonce too high|gap|txpool|pool is full|max fee per gas less than|fee too low|timeout/i
const NOOP_GAS = 21_000n

type Signable = Pick<Relay, 'nonce' | 'target' | 'data' | 'gasLimit'>

/** Signed bytes, and what they offer. */
interface Signed {
  raw: string
  hash: string
  maxPrice: bigint
  tip: bigint
}

export type Broadcaster = ReturnType<typeof createBroadcaster>

/** Broadcasts signed transactions: sent, sent again, at a higher price when they are not mined, and in the end replaced by nothing. */
export function createBroadcaster({ chain, store, signer, ceiling, logger, now, ...options }: BroadcasterOptions) {
  const sentAt = new Map<string, number>()
  const refusals = new Map<number, number>()

  const sign = async ({ nonce, target: to, data, gasLimit }: Signable, price: Price): Promise<Signed> => {
    const fees = { maxFeePerGas: price.max, maxPriorityFeePerGas: price.tip }
    const transaction = Transaction.from({ type: 2, chainId: options.chainId, nonce, to, data, gasLimit, ...fees })
    transaction.signature = await signer.sign(transaction.unsignedHash)
    return { raw: transaction.serialized, hash: transaction.hash ?? '', maxPrice: price.max, tip: price.tip }
  }
  const broadcast = async (nonce: number, { hash, raw }: Pick<Signed, 'hash' | 'raw'>) => {
    sentAt.set(hash, performance.now())
    const reasons = await chain.send(raw)
    if (reasons.length === 0) return void refusals.delete(nonce)
    if (!reasons.some(reason => PASSING.test(reason))) refusals.set(nonce, (refusals.get(nonce) ?? 0) + 1)
    logger.warn('a transaction was refused and will be sent again', { nonce, hash, detail: reasons.join('; ').slice(0, 300) })
  }
  /** The same nonce at a higher price, and with `isNoop` for a transfer of nothing to ourselves; undefined at the ceiling. */
  const replace = async (epoch: bigint, relay: Relay, isNoop: boolean): Promise<Signed | undefined> => {
    const market = await chain.market()
    // A transaction that does something stays below the ceiling, so that what replaces it has room above.
    const highest = isNoop ? ceiling : smaller(ceilingBelow(ceiling), relay.worthPrice ?? ceiling)
    const price = raised({ max: relay.maxPrice, tip: relay.tip }, priceAt(market.baseFee, market.tip, highest), highest)
    // The base fee has risen above all that it is worth: those behind it do not wait for it to fall.
    if (!price)
      return !isNoop && highest < ceilingBelow(ceiling) && market.baseFee > relay.maxPrice ? replace(epoch, relay, true) : undefined
    const sender = await signer.address()
    const offer = await sign(isNoop ? await noop(relay.nonce, sender) : relay, price)
    const begins = isNoop && relay.noopFrom === null
    await store.reprice(
      epoch,
      sender.toLowerCase(),
      relay.nonce,
      { ...offer, noopFrom: begins ? relay.raws.length : relay.noopFrom },
      now(),
    )
    options.repriced(relay.kind, begins)
    const message = begins ? 'a transaction that no one mines is replaced by nothing' : 'a stuck transaction is offered a higher price'
    logger[begins ? 'warn' : 'info'](message, { nonce: relay.nonce, hash: offer.hash, max_price: String(price.max) })
    return offer
  }
  const noop = async (nonce: number, target: string): Promise<Signable> => {
    // A layer above another one wants more gas than 21,000 for its data.
    const estimate = await chain.estimate({ from: target, to: target, data: '0x' })
    return { nonce, target, data: '0x', gasLimit: estimate > NOOP_GAS ? (estimate * 6n) / 5n : NOOP_GAS }
  }
  return {
    sign,
    /** A transfer of nothing to ourselves. */
    noop,
    broadcast,
    /** Sends again what is not mined: dearer when it is stuck, at once when it was never sent or `atOnce`. */
    async push(epoch: bigint, relay: Relay, atOnce: boolean): Promise<void> {
      const at = now().getTime()
      const givenUp = at - relay.openSince.getTime() >= options.giveUpMs || (refusals.get(relay.nonce) ?? 0) >= REFUSALS_MAX
      const isNoop = relay.noopFrom !== null || givenUp
      const isStuck = at - relay.pricedAt.getTime() >= options.stuckMs || (isNoop && relay.noopFrom === null)
      const dearer = isStuck ? await replace(epoch, relay, isNoop) : undefined
      if (dearer) return broadcast(relay.nonce, dearer)
      const [hash, raw] = [relay.hashes.at(-1), relay.raws.at(-1)]
      if (hash === undefined || raw === undefined) return
      const last = sentAt.get(hash)
      if (last === undefined || atOnce || performance.now() - last >= REBROADCAST_MS) await broadcast(relay.nonce, { hash, raw })
    },
    /** It is mined: should a reorganisation take it away, it is sent again at once. */
    forget(nonce: number, hashes: readonly string[]): void {
      refusals.delete(nonce)
      for (const hash of hashes) sentAt.delete(hash)
    },
  }
}
