import type { ChainAudited } from '@ponte/contracts'
import { every, type Logger, type Metrics } from '@ponte/service-kit'
import { knownThrough } from '../chain/history'
import type { LedgerSpan, Store } from '../store'
import { monthStart } from '../summary/civil-days'
import { type Difference, differencesOf } from './compare'

export interface ReconcileOptions {
  store: Store
  /** Of every network, the first one first. */
  chainIds: readonly number[]
  everyS: number
  /** A network of which nothing was confirmed for this long holds back no month; 0 for never. */
  stillAfterMs: number
  metrics: Metrics
  now: () => Date
  logger: Logger
}

/** Orders of the history looked at in one turn, and as many of the newest. */
const PAGE = 500

/** Sums of the listener are believed for so long: it sends them anew every minute, and a reorganisation may change what they cover. */
const AUDIT_MAX_AGE_MS = 600_000
/** Blocks of the history of which the ledger is compared with the books in one turn. */
const LEDGER_BLOCKS = 5_000n
/** Entries of the history whose sums are counted anew in one turn, about. */
const SPAN_ENTRIES = 5_000
/** Wrong spans that are looked at again in every turn, until they are repaired. */
const WRONG_SPANS_MAX = 20
/** Sums of the ledger that are compared with its entries reach back so far, in whole quarters of an hour. */
const SUMS_MS = 3_600_000
const QUARTER_MS = 900_000
/** Months are closed as they end there. */
const BOOKS_ZONE = 'America/Sao_Paulo'

/** Everything that the listener published before its sums has arrived by then, or is missing. */
const ARRIVAL_MS = 60_000

interface Audit extends ChainAudited {
  at: number
}

/** Compares orders with their payments, and what the listener confirmed with what is booked here: the newest at every turn and all of them bit by bit, over and over. What it finds is counted until it is gone. */
export function reconcileJob({ store, chainIds, everyS, stillAfterMs, metrics, now, logger }: ReconcileOptions) {
  const found = new Map<string, Difference[]>()
  const audits = new Map<number, Audit>()
  /** Spans by chain. */
  const missing = new Map<number, number>()
  let unbooked = 0
  let ledgerFrom = 0n
  let span: LedgerSpan | null = null
  let wrongSpans: LedgerSpan[] = []
  let after: string | null = null
  const startedAt = now()
  let finishedAt: Date | undefined

  const look = async (from: string | null | 'newest') => {
    const ledgers = await store.orders.page(from, PAGE)
    for (const ledger of ledgers) {
      const differences = differencesOf(ledger, store.chain.viewOf(ledger.order))
      found.delete(ledger.order.id)
      if (differences.length > 0) found.set(ledger.order.id, differences)
      for (const { orderId, kind, detail } of differences)
        logger.error('an order is not what its payments make of it', { order_id: orderId, kind, detail })
    }
    return ledgers
  }
  /** An event of the listener that is still on its way is no difference yet. */
  const join = async (chainId: number) => {
    const audit = audits.get(chainId)
    const age = audit ? now().getTime() - audit.at : Number.POSITIVE_INFINITY
    if (!audit || age > AUDIT_MAX_AGE_MS) {
      missing.delete(chainId)
      return
    }
    const { generation, watermark, since } = await store.chain.refresh(chainId)
    if (generation !== audit.generation || since === null || watermark === null) return
    const isRead = audit.spans.every(({ to_block }) => to_block <= watermark)
    if (!isRead && age < ARRIVAL_MS) return
    // A generation reports nothing of earlier blocks than its own.
    const spans = audit.spans.filter(({ from_block }) => from_block >= since)
    const differing = spans.length === 0 ? [] : await store.books.differing(chainId, spans)
    missing.set(chainId, differing.length)
    for (const { from_block, to_block, count } of differing)
      logger.error('the listener confirmed other payments than are booked here; npm run reconcile names them', {
        chain_id: chainId,
        from_block,
        to_block,
        count,
      })
  }
  /** Merchants whose sums of the history are wrong, as far as it was looked at. */
  const wrongHistory = async (): Promise<string[]> => {
    span = await store.ledger.nextSpan(span, SPAN_ENTRIES)
    const looked = [...wrongSpans, ...(span ? [span] : [])]
    const isWrong = await Promise.all(looked.map(store.ledger.isWrong))
    const found = new Map(looked.filter((_, index) => isWrong[index]).map(each => [`${each.merchantId} ${each.from}`, each]))
    wrongSpans = [...found.values()].slice(0, WRONG_SPANS_MAX)
    return wrongSpans.map(({ merchantId }) => merchantId)
  }
  /** The newest blocks, and the history bit by bit. What is lacking is booked: the ledger follows from the books. */
  const checkLedger = async () => {
    const views = await Promise.all(chainIds.map(store.chain.refresh))
    const known = knownThrough(views, now(), stillAfterMs)
    if (known !== null) await store.ledger.close(monthStart(known, BOOKS_ZONE))
    const heads = await Promise.all(chainIds.map(store.chain.head))
    const newest = heads.map(head => [head > LEDGER_BLOCKS ? head - LEDGER_BLOCKS : 0n, head] as const)
    const next = await store.ledger.nextBlock(ledgerFrom)
    const isHistory = next !== null && newest.some(([least]) => next < least)
    const from = isHistory ? next : ((await store.ledger.nextBlock(0n)) ?? 0n)
    const spans = [...newest, [from, from + LEDGER_BLOCKS] as const]
    const differing = await Promise.all(spans.map(([least, most]) => store.ledger.unbooked(least, most)))
    const hashes = [...new Set(differing.flat())]
    ledgerFrom = from + LEDGER_BLOCKS
    const quarter = Math.floor((now().getTime() - SUMS_MS) / QUARTER_MS) * QUARTER_MS
    const wrong = new Set([...(await store.ledger.wrongSums(new Date(quarter))), ...(await wrongHistory())])
    unbooked = hashes.length + wrong.size
    if (unbooked > 0) logger.error('the ledger is not what the books make of it', { tx_hashes: hashes, merchant_ids: [...wrong] })
    if (hashes.length > 0) await store.ledger.book(hashes)
  }
  const turn = async () => {
    await store.chain.forget()
    for (const chainId of chainIds) await join(chainId)
    await checkLedger()
    await look('newest')
    const ledgers = await look(after)
    after = ledgers.length < PAGE ? null : (ledgers.at(-1)?.order.id ?? null)
    finishedAt = now()
  }
  metrics.observed(
    'ponte_reconcile_differences',
    'Orders that are not what their payments make of them, spans of blocks in which the listener confirmed other payments than are booked, and transactions that the ledger has otherwise',
    () => found.size + [...missing.values()].reduce((sum, spans) => sum + spans, 0) + unbooked,
  )
  // One that never finished answers since when it has not, so that the alert fires.
  metrics.observed(
    'ponte_reconcile_last_run_timestamp_seconds',
    'When orders were last compared with their payments',
    () => (finishedAt ?? startedAt).getTime() / 1_000,
  )
  const part = every('reconcile', everyS * 1_000, turn, logger)
  return {
    part,
    /** Sums of the listener's newest confirmed blocks; compared at the next turn, and again until newer sums come. */
    audited(data: ChainAudited): void {
      if (chainIds.includes(data.chain_id)) audits.set(data.chain_id, { ...data, at: now().getTime() })
    },
  }
}
