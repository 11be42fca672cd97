import type { Receipt } from '../rpc/chain-client'
import { type Broadcaster, type BroadcasterOptions, createBroadcaster } from './broadcaster'
import { priceAt } from './price'
import type { NewRelay, Outcome, Relay } from './store/transactions'

/** What is to be mined: a call, and the intents that it fulfils. */
export type Intent = Pick<Relay, 'kind' | 'orderIds' | 'payer' | 'salt' | 'target' | 'data'>

export interface NonceLineOptions extends Omit<BroadcasterOptions, 'repriced'> {
  /** Hears of each transaction that is mined deep enough. */
  finished(relay: Relay, outcome: Outcome, receipt: Receipt | undefined): Promise<void>
  counted(outcome: Outcome | 'sent' | 'repriced', kind: Relay['kind'], gasUsed?: number): void
}

/** Most transactions that wait to be mined; nodes drop long lines of one sender. */
const UNMINED_MAX = 8
/** About what one sweep takes: an account that can pay for it may try again. */
const GAS_OF_ONE = 200_000n

export type NonceLine = ReturnType<typeof createNonceLine>

/**
 * One line of nonces of one account. A transaction is written down signed before it is sent, and sent again, the same bytes, until the chain
 * shows at the confirmed depth what became of its nonce: dying at any point in between sends nothing twice and forgets nothing.
 */
export function createNonceLine(options: NonceLineOptions) {
  const { chain, store, wallet, logger, ceiling } = options
  const sender = wallet.address.toLowerCase()
  const broadcaster = createBroadcaster({ ...options, repriced: kind => options.counted('repriced', kind) })
  const endings = createEndings(options, broadcaster)
  let outOfGas = false
  let unmined = 0

  const checkFunds = async () => {
    const { baseFee, tip } = await chain.market()
    const { balance } = await chain.account(sender)
    outOfGas = balance < GAS_OF_ONE * priceAt(baseFee, tip, ceiling).max
  }

  return {
    address: wallet.address,
    outOfGas: () => outOfGas,
    unmined: () => unmined,

    /** Looks what became of everything that was signed; sends and prices anew what is not mined. `block` is the last confirmed one. */
    async follow(epoch: bigint, block: number): Promise<void> {
      const usedAtBlock = await chain.nonceAt(sender, block)
      await endings.reopen(epoch, usedAtBlock)
      const open = await store.open(sender)
      unmined = 0
      if (open.length === 0) return outOfGas ? checkFunds() : undefined
      const account = await chain.account(sender)
      const receipts = await chain.receipts(open.flatMap(relay => relay.hashes))
      const waiting: Relay[] = []
      for (const relay of open) {
        const receipt = relay.hashes.map(hash => receipts.get(hash)).find(found => found !== undefined)
        if (receipt) broadcaster.forget([receipt.hash])
        if (relay.nonce < usedAtBlock && (!receipt || receipt.blockNumber <= block)) await endings.finish(epoch, relay, receipt)
        else if (!receipt && relay.nonce >= account.nonce) waiting.push(relay)
      }
      unmined = waiting.length
      const before = outOfGas
      outOfGas = waiting.some(relay => account.balance < relay.gasLimit * relay.maxPrice)
      for (const relay of waiting) await broadcaster.push(epoch, relay, before && !outOfGas)
    },

    /** True when one more transaction may be sent now. */
    hasRoom: () => unmined < UNMINED_MAX && !outOfGas,

    /** Signs, writes down, then sends. False when the account cannot pay for it: nothing was done then. Throws RevertError when it would revert. */
    async submit(epoch: bigint, intent: Intent): Promise<boolean> {
      const estimate = await chain.estimate({ from: sender, to: intent.target, data: intent.data })
      const gasLimit = (estimate * 6n) / 5n + 20_000n
      const market = await chain.market()
      const price = priceAt(market.baseFee, market.tip, ceiling)
      const [account, known] = [await chain.account(sender), await store.nextNonce(sender)]
      if (account.balance < gasLimit * price.max) {
        if (!outOfGas)
          logger.error('the relayer cannot pay for gas; refill its account', { address: wallet.address, balance: String(account.balance) })
        outOfGas = true
        return false
      }
      const nonce = Math.max(account.nonce, known)
      const offer = await broadcaster.sign({ nonce, gasLimit, ...intent }, price)
      const relay: NewRelay = { ...intent, nonce, gasLimit, ...offer }
      await store.write(epoch, sender, relay, options.now())
      unmined += 1
      options.counted('sent', intent.kind)
      logger.info('a transaction is relayed', { nonce, kind: intent.kind, hash: offer.hash, intents: intent.orderIds.length })
      await broadcaster.broadcast(offer)
      return true
    },
  }
}

/** How relays end, and begin again. */
function createEndings({ store, wallet, logger, finished, counted }: NonceLineOptions, broadcaster: Broadcaster) {
  const sender = wallet.address.toLowerCase()
  return {
    /** A reorganisation below the confirmed depth took transactions away: they are mined again, or every later nonce waits for theirs. */
    async reopen(epoch: bigint, usedAtBlock: number): Promise<void> {
      if (!(await store.isFinishedFrom(sender, usedAtBlock))) return
      logger.error('relayed transactions have vanished from the chain and are sent again', { from_nonce: usedAtBlock })
      await store.reopen(epoch, sender, usedAtBlock)
    },
    async finish(epoch: bigint, relay: Relay, receipt: Receipt | undefined): Promise<void> {
      const outcome: Outcome = receipt ? (receipt.ok ? 'done' : 'reverted') : 'replaced'
      await finished(relay, outcome, receipt)
      await store.finish(epoch, sender, relay.nonce, { outcome, hash: receipt?.hash ?? null, gasUsed: receipt?.gasUsed ?? null })
      counted(outcome, relay.kind, receipt?.gasUsed)
      broadcaster.forget(relay.hashes)
      logger[outcome === 'done' ? 'info' : 'warn']('a relayed transaction is finished', {
        ...{ nonce: relay.nonce, kind: relay.kind, outcome, hash: receipt?.hash, gas_used: receipt?.gasUsed },
      })
    },
  }
}
