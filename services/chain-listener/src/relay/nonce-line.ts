import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { keccak256, type Wallet } from 'ethers'
import { decodePayment, type RawLog } from '../payment-log'
import type { NewRelay, Outcome, Relay, RelayStore } from '../store/relays'
import { type Price, priceAt, raised } from './price'
import { quotedPrice, type Receipt, type Wire } from './wire'

/** What is to be mined: a call, and the intents that it fulfils. */
export type Intent = Pick<Relay, 'kind' | 'orderIds' | 'payer' | 'target' | 'data'>

export interface NonceLineOptions {
  wire: Wire
  store: RelayStore
  wallet: Wallet
  chainId: number
  routers: readonly string[]
  /** Most native coin offered for a unit of gas. */
  ceiling: bigint
  stuckMs: number
  now: () => Date
  logger: Logger
  /** Hears of each transaction that is mined deep enough. */
  finished(relay: Relay, outcome: Outcome, receipt: Receipt | undefined): Promise<void>
  counted(outcome: Outcome | 'sent' | 'repriced', kind: Relay['kind'], gasUsed?: number): void
}

/** Most transactions that wait to be mined; nodes drop long lines of one sender. */
const UNMINED_MAX = 8
/** About what one sweep takes: an account that can pay for it may try again. */
const GAS_OF_ONE = 200_000n
const REBROADCAST_MS = 5_000
const TAKEN = /already known|already imported|known transaction|nonce too low|already exists/i

export type NonceLine = ReturnType<typeof createNonceLine>

/**
 * One line of nonces of one account. A transaction is written down signed before it is sent, and sent again, the same bytes, until the chain
 * shows at the confirmed depth what became of its nonce: dying at any point in between sends nothing twice and forgets nothing.
 */
export function createNonceLine(options: NonceLineOptions) {
  const { wire, store, wallet, logger, ceiling } = options
  const sender = wallet.address.toLowerCase()
  const sentAt = new Map<string, number>()
  let starved = false
  let unmined = 0

  const sign = async (relay: Pick<Relay, 'nonce' | 'target' | 'data' | 'gasLimit'>, price: Price) => {
    const { nonce, target, data, gasLimit } = relay
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: options.chainId,
      nonce,
      to: target,
      data,
      gasLimit,
      ...quotedPrice(price),
    })
    return { raw, maxPrice: price.max, tip: price.tip, hash: keccak256(raw) }
  }
  const broadcast = async (hash: string, raw: string) => {
    sentAt.set(hash, performance.now())
    const refusal = await wire.send(raw)
    if (refusal === undefined || TAKEN.test(refusal)) return
    logger.warn('a transaction was refused and will be sent again', { hash, detail: refusal.slice(0, 300) })
  }
  const reprice = async (epoch: bigint, relay: Relay) => {
    const market = await wire.market()
    const price = raised({ max: relay.maxPrice, tip: relay.tip }, priceAt(market.baseFee, market.tip, ceiling), ceiling)
    if (!price) return
    const offer = await sign(relay, price)
    await store.reprice(epoch, sender, relay.nonce, offer, options.now())
    options.counted('repriced', relay.kind)
    logger.info('a stuck transaction is offered a higher price', { nonce: relay.nonce, hash: offer.hash, max_price: String(price.max) })
    await broadcast(offer.hash, offer.raw)
  }
  const push = async (epoch: bigint, relay: Relay, wasStarved: boolean) => {
    const [hash, raw] = [relay.hashes.at(-1), relay.raws.at(-1)]
    if (hash === undefined || raw === undefined) return
    if (options.now().getTime() - relay.pricedAt.getTime() >= options.stuckMs) return reprice(epoch, relay)
    const last = sentAt.get(hash)
    if (last === undefined || (wasStarved && !starved) || performance.now() - last >= REBROADCAST_MS) await broadcast(hash, raw)
  }
  const breathe = async () => {
    const { baseFee, tip } = await wire.market()
    const { balance } = await wire.account(sender)
    starved = balance < GAS_OF_ONE * priceAt(baseFee, tip, ceiling).max
  }
  const finish = async (epoch: bigint, relay: Relay, receipt: Receipt | undefined) => {
    const outcome: Outcome = receipt ? (receipt.ok ? 'done' : 'reverted') : 'replaced'
    const swept = relay.kind === 'sweep' && receipt ? receipt.logs.flatMap(log => toSwept(log, options.routers)) : []
    await options.finished(relay, outcome, receipt)
    await store.finish(epoch, sender, relay.nonce, { outcome, hash: receipt?.hash ?? null, gasUsed: receipt?.gasUsed ?? null, swept })
    options.counted(outcome, relay.kind, receipt?.gasUsed)
    for (const hash of relay.hashes) sentAt.delete(hash)
    logger[outcome === 'done' ? 'info' : 'warn']('a relayed transaction is finished', {
      ...{ nonce: relay.nonce, kind: relay.kind, outcome, hash: receipt?.hash, gas_used: receipt?.gasUsed },
    })
  }

  return {
    address: wallet.address,
    starved: () => starved,
    unmined: () => unmined,

    /** Looks what became of everything that was signed; sends and prices anew what is not mined. `block` is the last confirmed one. */
    async follow(epoch: bigint, block: number): Promise<void> {
      const open = await store.open(sender)
      unmined = 0
      if (open.length === 0) return starved ? breathe() : undefined
      const account = await wire.account(sender)
      const usedAtBlock = await wire.nonceAt(sender, block)
      const receipts = await wire.receipts(open.flatMap(relay => relay.hashes))
      const waiting: Relay[] = []
      for (const relay of open) {
        const receipt = relay.hashes.map(hash => receipts.get(hash)).find(found => found !== undefined)
        // Seen mined: should a reorganisation take it away, it is sent again at once.
        if (receipt) sentAt.delete(receipt.hash)
        if (relay.nonce < usedAtBlock && (!receipt || receipt.blockNumber <= block)) await finish(epoch, relay, receipt)
        else if (!receipt && relay.nonce >= account.nonce) waiting.push(relay)
      }
      unmined = waiting.length
      const before = starved
      starved = waiting.some(relay => account.balance < relay.gasLimit * relay.maxPrice)
      for (const relay of waiting) await push(epoch, relay, before)
    },

    /** True when one more transaction may be sent now. */
    hasRoom: () => unmined < UNMINED_MAX && !starved,

    /** Signs, writes down, then sends. False when the account cannot pay for it: nothing was done then. Throws RevertError when it would revert. */
    async submit(epoch: bigint, intent: Intent): Promise<boolean> {
      const estimate = await wire.estimate({ from: sender, to: intent.target, data: intent.data })
      const gasLimit = (estimate * 6n) / 5n + 20_000n
      const market = await wire.market()
      const price = priceAt(market.baseFee, market.tip, ceiling)
      const [account, known] = [await wire.account(sender), await store.nextNonce(sender)]
      if (account.balance < gasLimit * price.max) {
        if (!starved)
          logger.error('the relayer cannot pay for gas; refill its account', { address: wallet.address, balance: String(account.balance) })
        starved = true
        return false
      }
      const nonce = Math.max(account.nonce, known)
      const { raw, hash, maxPrice, tip } = await sign({ nonce, gasLimit, ...intent }, price)
      const relay: NewRelay = { ...intent, nonce, gasLimit, maxPrice, tip, raw, hash }
      await store.write(epoch, sender, relay, options.now())
      unmined += 1
      options.counted('sent', intent.kind)
      logger.info('a transaction is relayed', { nonce, kind: intent.kind, hash, intents: intent.orderIds.length })
      await broadcast(hash, raw)
      return true
    },
  }
}

function toSwept(log: RawLog, routers: readonly string[]) {
  if (!routers.includes(log.address.toLowerCase()) || log.topics[0] !== PAYMENT_RECEIVED_TOPIC) return []
  const { memo, merchant, share, fee } = decodePayment(log)
  return [{ memo, merchant, units: share + fee }]
}
