import type { Receipt } from '../../rpc/chain-client'
import type { DataCost } from '../../rpc/data-fee'
import type { NewRelay, Outcome, Relay } from '../store/transactions'
import { type Broadcaster, type BroadcasterOptions, createBroadcaster } from './broadcaster'
import { type Budgets, type Exceeded, exceeded, ofWallets } from './budget'
import { ceilingBelow, gasLimitOf, type Price, priceAt, priceWithin, shareOf, unitsOf } from './price'

/** A transaction to be mined: a call, the intents that it fulfils, and its highest cost. */
export type Intent = Pick<Relay, 'kind' | 'wallet' | 'orderIds' | 'merchants' | 'payer' | 'salt' | 'target' | 'data'> & {
  /** Most gas it may use, whatever the estimate. */
  gasMax: bigint
  /** In token units. */
  worthUnits: bigint
  /** Its payer's key has paid this merchant no other order by a signature. */
  isNewPayer: boolean
}

/** A transaction that may be sent: the gas that it may use, what it offers, and the price at which it is not worth it any more. */
export interface Prepared {
  intent: Intent
  gasLimit: bigint
  price: Price
  worthwhile: bigint
  /** Cost of its data beside its gas. */
  dataWei: bigint
}

export interface Terms {
  /** Whether the account can pay for as much gas as it may use. */
  affords: boolean
  /** Which of its orders would exceed a budget if it used as much, at the highest price that would be offered now. */
  over: Map<string, Exceeded>
  /** The least amount whose transaction of so much gas is worth its cost, in token units. */
  leastWorth: bigint
}

/** `sent`, or why it waits. */
export type Submission = 'sent' | 'out_of_gas' | 'too_dear' | Exceeded

export interface NonceLineOptions extends Omit<BroadcasterOptions, 'repriced'> {
  /** Worth of a whole native coin, in token units. */
  coinUnits: bigint
  /** The part of what a transaction moves that it may cost. */
  shareBps: number
  budgets: Budgets
  /** While paused, transactions already sent are followed and nothing new is sent. */
  paused: boolean
  /** Hears of each transaction that is mined deep enough. */
  finished(relay: Relay, outcome: Outcome, receipt: Receipt | undefined): Promise<void>
  counted(outcome: Outcome | 'repriced' | 'noop' | Submission, kind: Relay['kind'], cost?: { gas: number; units: bigint }): void
}

/** As long as a sweep of one deposit, and like it hard to compress. */
const USUAL_DATA = `0x${'5a'.repeat(68)}`
/** Most transactions that wait to be mined; nodes drop long lines of one sender. */
const UNMINED_MAX = 8

export type NonceLine = ReturnType<typeof createNonceLine>

/**
 * One line of nonces of one account. A transaction is written down signed before it is sent, and sent again, the same bytes, until the chain
 * shows at the confirmed depth what became of its nonce: dying at any point in between sends nothing twice and forgets nothing.
 */
export function createNonceLine(options: NonceLineOptions) {
  const { chain, store, signer, logger, now, ceiling, coinUnits, shareBps } = options
  const broadcaster = createBroadcaster({
    ...options,
    repriced: (kind, isNoop) => options.counted(isNoop ? 'noop' : 'repriced', kind),
  })
  const endings = createEndings(options, broadcaster)
  const highest = ceilingBelow(ceiling)
  /** Gas that the account could not pay for; undefined while it can. */
  let missingGas: bigint | undefined
  let unmined = 0

  const priceNow = async () => {
    const market = await chain.market()
    return priceAt(market.baseFee, market.tip, highest)
  }
  const costOfData = ({ target, data }: Pick<Intent, 'target' | 'data'>) => chain.dataCost({ to: target, data })
  const canPay = (sender: string, balance: bigint, gas: bigint, price: Price, dataWei = 0n): boolean => {
    if (balance >= gas * price.max + dataWei) {
      missingGas = undefined
      return true
    }
    if (missingGas === undefined)
      logger.error('the relayer cannot pay for gas; refill its account', { address: sender, balance: String(balance) })
    missingGas = gas
    return false
  }
  const leastWorthAt = (gas: bigint, price: Price, data: DataCost): bigint =>
    (unitsOf((gas + data.gas) * price.max + data.wei, coinUnits) * 10_000n + BigInt(shareBps) - 1n) / BigInt(shareBps)
  const waits = (why: Submission, kind: Relay['kind']) => {
    options.counted(why, kind)
    return why
  }
  const estimate = async (sender: string, { wallet, target: to, data }: Intent, gasMax: bigint, price: Price): Promise<bigint> => {
    // A stranger's wallet sees the price that it will see in its block.
    const fees = wallet ? { maxPrice: price.max, tip: price.tip } : {}
    return gasLimitOf(await chain.estimate({ from: sender, to, data, gas: gasMax, ...fees }), gasMax)
  }
  const overBudget = async ({ kind, wallet, orderIds, merchants, isNewPayer }: Intent, units: bigint): Promise<Map<string, Exceeded>> => {
    const spent = await store.spent({ kind, wallet, orderIds, merchants })
    const each = (units + BigInt(orderIds.length) - 1n) / BigInt(orderIds.length)
    return exceeded(spent, wallet ? ofWallets(options.budgets) : options.budgets, { orderIds, merchants, units: each, isNewPayer })
  }

  /** Everything that can be asked before its turn, and changes nothing. Throws RevertError when it would revert. */
  const prepare = async (intent: Intent): Promise<Prepared | Submission> => {
    const [sender, price, dataCost] = await Promise.all([signer.address(), priceNow(), costOfData(intent)])
    const gasMax = intent.gasMax + dataCost.gas
    if (intent.wallet && !canPay(sender, (await chain.account(sender)).balance, gasMax, price, dataCost.wei))
      return waits('out_of_gas', intent.kind)
    const gasLimit = await estimate(sender, intent, gasMax, price)
    // The data's cost is spent whatever is offered for the gas.
    const left = shareOf(intent.worthUnits, shareBps) - unitsOf(dataCost.wei, coinUnits)
    const worthwhile = left > 0n ? priceWithin(gasLimit, left, coinUnits) : 0n
    // One that is worth just what the next block asks would stay unmined when the base fee rises, and those behind it with it.
    return worthwhile < price.max ? waits('too_dear', intent.kind) : { intent, gasLimit, price, worthwhile, dataWei: dataCost.wei }
  }
  /** Signs, writes down, then sends; or answers why it waits, and has done nothing then. Only one at a time. */
  const send = async (epoch: bigint, { intent, gasLimit, price, worthwhile, dataWei }: Prepared): Promise<Submission> => {
    const sender = await signer.address()
    const costUnits = unitsOf(gasLimit * price.max + dataWei, coinUnits)
    const [exceeding, account, known] = await Promise.all([
      overBudget(intent, costUnits),
      chain.account(sender),
      store.nextNonce(sender.toLowerCase()),
    ])
    const [over] = exceeding.values()
    if (over) return waits(over, intent.kind)
    if (!canPay(sender, account.balance, gasLimit, price, dataWei)) return waits('out_of_gas', intent.kind)
    // More than is known here was signed where a database was put back.
    const nonce = account.nonce > known ? Math.max(await chain.nextNonce(sender), known) : known
    const { kind, wallet, orderIds, merchants, payer, salt, target, data } = intent
    const offer = await broadcaster.sign({ nonce, gasLimit, target, data }, price)
    const written = {
      ...{ nonce, gasLimit, kind, wallet, orderIds, merchants, payer, salt, target, data },
      costUnits,
      worthPrice: worthwhile,
      noopFrom: null,
    }
    await store.write(epoch, sender.toLowerCase(), { ...written, ...offer } satisfies NewRelay, now())
    unmined += 1
    options.counted('sent', kind)
    logger.info('a transaction is relayed', { nonce, kind, hash: offer.hash, intents: orderIds.length })
    await broadcaster.broadcast(nonce, offer)
    return 'sent'
  }

  /**
   * Nonces of transactions that a database put back has forgotten, and that a reorganisation then took from the chain: no one has their bytes any more,
   * and whatever was signed behind them waits for ever.
   */
  const fillGap = async (epoch: bigint, used: number, last: Relay | undefined): Promise<void> => {
    if (!last || now().getTime() - last.pricedAt.getTime() < options.stuckMs) return
    const sender = await signer.address()
    const forgotten = (from: number) => store.forgotten(sender.toLowerCase(), from, last.nonce)
    if ((await forgotten(used)).length === 0) return
    for (const nonce of await forgotten(await chain.nextNonce(sender))) {
      const [price, nothing] = [await priceNow(), await broadcaster.noop(nonce, sender)]
      const offer = await broadcaster.sign(nothing, price)
      logger.warn('a nonce that nothing uses any more is used by nothing, for those behind it', { nonce, hash: offer.hash })
      const unasked = { wallet: false, orderIds: [], merchants: [], payer: null, salt: null, worthPrice: null, costUnits: 0n }
      await store.write(epoch, sender.toLowerCase(), { ...unasked, ...nothing, kind: last.kind, ...offer, noopFrom: 0 }, now())
      options.counted('noop', last.kind)
      await broadcaster.broadcast(nonce, offer)
    }
  }

  return {
    address: () => signer.address(),
    outOfGas: () => missingGas !== undefined,
    unmined: () => unmined,
    /** Whether the account can pay for so much gas now. */
    async affords(gas: bigint): Promise<boolean> {
      const [{ balance }, price] = await Promise.all([chain.account(await signer.address()), priceNow()])
      return balance >= gas * price.max
    },
    /** The least amount whose transaction of so much gas is worth its cost now, in token units. */
    async leastWorth(gas: bigint): Promise<bigint> {
      const target = await signer.address()
      const [price, data] = await Promise.all([priceNow(), costOfData({ target, data: USUAL_DATA })])
      return leastWorthAt(gas, price, data)
    },
    async terms(intent: Intent): Promise<Terms> {
      const [{ balance }, price, data] = await Promise.all([chain.account(await signer.address()), priceNow(), costOfData(intent)])
      const cost = (intent.gasMax + data.gas) * price.max + data.wei
      const over = await overBudget(intent, unitsOf(cost, coinUnits))
      return { affords: balance >= cost, over, leastWorth: leastWorthAt(intent.gasMax, price, data) }
    },

    /** The parts of the day's budget, and of what new merchants have of it, that are spent. */
    async budgetUsed(kind: Relay['kind']): Promise<{ all: number; newMerchants: number }> {
      const { dayUnits, newMerchantsUnits } = await store.spent({ kind, wallet: false, orderIds: [], merchants: [] })
      const part = (spent: bigint, of: bigint) => Number((spent * 10_000n) / (of || 1n)) / 1e4
      return { all: part(dayUnits, options.budgets.dayUnits), newMerchants: part(newMerchantsUnits, options.budgets.newMerchantsDayUnits) }
    },

    /** Looks what became of everything that was signed; sends and prices anew what is not mined. `block` is the last confirmed one. */
    async follow(epoch: bigint, block: number): Promise<void> {
      const sender = await signer.address()
      // By the word of one node nothing ends, and nothing begins again.
      const used = await chain.usedNonces(sender)
      if (used) await endings.reopen(epoch, sender.toLowerCase(), used.atMost, block)
      const open = await store.open(sender.toLowerCase())
      unmined = 0
      if (open.length === 0) {
        if (missingGas !== undefined) canPay(sender, (await chain.account(sender)).balance, missingGas, await priceNow())
        return
      }
      const account = await chain.account(sender)
      const receipts = await chain.receipts(open.flatMap(relay => relay.hashes))
      const waiting: Relay[] = []
      for (const relay of open) {
        if (relay.nonce >= (used?.atLeast ?? account.nonce)) {
          waiting.push(relay)
          continue
        }
        const receipt = relay.hashes.map(hash => receipts.get(hash)).find(found => found !== undefined)
        if (receipt) broadcaster.forget(relay.nonce, [receipt.hash])
        if (used) await endings.lookUp(epoch, relay, receipt, block)
      }
      unmined = waiting.length
      await fillGap(epoch, account.nonce, waiting.at(-1))
      const before = missingGas !== undefined
      const unpaid = waiting.find(relay => account.balance < relay.gasLimit * relay.maxPrice)
      missingGas = unpaid?.gasLimit
      for (const relay of waiting) await broadcaster.push(epoch, relay, before && !unpaid)
    },

    /** Transactions that may still be sent now. */
    room: () => (options.paused || missingGas !== undefined ? 0 : Math.max(0, UNMINED_MAX - unmined)),

    prepare,
    send,
    /** Both in one: sends it, or answers why it waits. */
    async submit(epoch: bigint, intent: Intent): Promise<Submission> {
      const prepared = await prepare(intent)
      return typeof prepared === 'string' ? prepared : send(epoch, prepared)
    },
  }
}

/** Ends relays, and begins them again. */
function createEndings({ chain, store, signer, logger, coinUnits, finished, counted, now }: NonceLineOptions, broadcaster: Broadcaster) {
  /** Used nonces without a receipt: the confirmed block at which nodes were last asked, and whether the one that decides has denied all transactions of it. */
  const unknown = new Map<number, { block: number; isDenied: boolean }>()
  /** The confirmed block at which finished transactions were first missing. */
  let vanishedAt: number | undefined
  const finish = async (epoch: bigint, relay: Relay, receipt: Receipt | undefined): Promise<void> => {
    const outcome = outcomeOf(relay, receipt)
    await finished(relay, outcome, receipt)
    const sender = (await signer.address()).toLowerCase()
    const costUnits = receipt ? unitsOf(receipt.costWei, coinUnits) : 0n
    await store.finish(epoch, sender, relay.nonce, { outcome, hash: receipt?.hash ?? null, gasUsed: receipt?.gasUsed ?? null, costUnits })
    counted(outcome, relay.kind, { gas: receipt?.gasUsed ?? 0, units: costUnits })
    unknown.delete(relay.nonce)
    broadcaster.forget(relay.nonce, relay.hashes)
    logger[outcome === 'done' ? 'info' : 'warn']('a relayed transaction is finished', {
      ...{ nonce: relay.nonce, kind: relay.kind, outcome, hash: receipt?.hash, gas_used: receipt?.gasUsed },
    })
  }
  return {
    /**
     * A reorganisation below the confirmed depth took transactions away: they are mined again, or every later nonce waits for theirs. It is seen at two
     * confirmed blocks, because where one node decides, one wrong answer of it would begin everything again.
     */
    async reopen(epoch: bigint, sender: string, used: number, block: number): Promise<void> {
      const isMissing = await store.isFinishedFrom(sender, used)
      vanishedAt = isMissing ? (vanishedAt ?? block) : undefined
      if (!isMissing || vanishedAt === block) return
      logger.error('relayed transactions have vanished from the chain and are sent again', { from_nonce: used })
      await store.reopen(epoch, sender, used, now())
      unknown.clear()
    },
    /**
     * Ends one whose nonce is used, at a confirmed block. Something else used it when two answers deny all its transactions: of two nodes, or, where one
     * decides, of two confirmed blocks. Until then what became of it is unknown.
     */
    async lookUp(epoch: bigint, relay: Relay, found: Receipt | undefined, block: number): Promise<void> {
      const before = unknown.get(relay.nonce)
      if (!found && before?.block === block) return
      const sender = await signer.address()
      if (!found && relay.nonce >= (await chain.nonceAt(sender, block))) return
      const { receipt, denials } = found ? { receipt: found, denials: 0 } : await chain.useOfNonce(sender, relay.nonce, relay.hashes)
      const isReplaced = denials > 1 || (denials === 1 && before?.isDenied === true)
      if (receipt ? receipt.blockNumber <= block : isReplaced) return finish(epoch, relay, receipt)
      if (receipt) return void unknown.delete(relay.nonce)
      unknown.set(relay.nonce, { block, isDenied: denials === 1 || before?.isDenied === true })
      logger.warn('what used the nonce of a relayed transaction is not known yet', { nonce: relay.nonce, denials })
    },
  }
}

function outcomeOf({ hashes, noopFrom }: Relay, receipt: Receipt | undefined): Outcome {
  if (!receipt) return 'replaced'
  if (noopFrom !== null && hashes.indexOf(receipt.hash) >= noopFrom) return 'replaced'
  return receipt.ok ? 'done' : 'reverted'
}
