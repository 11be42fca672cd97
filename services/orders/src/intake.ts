import { ApiError, CENT, type ChainBlocks, type NewEvent } from '@ponte/contracts'
import {
  isTransient,
  isUniqueViolation,
  type Logger,
  outboxRows,
  RetryableError,
  retryConflicts,
  type StoredAnswer,
} from '@ponte/service-kit'
import { Mutex } from 'async-mutex'
import { type Attachment, attach, requireNoneComing } from './order/attachment'
import type { Change, Order } from './order/order'
import { receivePayments } from './order/progress'
import { type Blocks, changesOf } from './payment/blocks'
import { type MismatchReason, mismatchesOf, unmatchedEvents } from './payment/mismatch'
import { isNewer, isOfChain, type Payment } from './payment/payment'
import { isDirect, type Report, reportsOf, sweepsOf } from './payment/report'
import { requireNonePromised } from './refund/stored-refund'
import type { Cursor, IntakeLedger, Store, Taken, Unmatched } from './store'
import { unmatchedChanges } from './unmatched'

export interface IntakeDeps {
  store: Store
  now: () => Date
  logger: Logger
  onUnmatched(reason: MismatchReason): void
  /** Called when a reorg took away a payment that had been confirmed. */
  onReorged(): void
  /** Called once a newer generation of the listener's history has begun. */
  adopted(): Promise<void>
}

export type Intake = ReturnType<typeof createIntake>

/** A decision about some reports, with the log lines that are due once it is written. */
interface Decided extends Taken {
  orders: readonly DecidedOrder[]
}

interface DecidedOrder {
  change: Change
  before: IntakeLedger
  changed: readonly Payment[]
}

/** All payments of an order in an event are judged together, and an event is one write. */
export function createIntake({ store, now, logger, onUnmatched, onReorged, adopted }: IntakeDeps) {
  /** Within a process one event follows the other; between processes the cursor's version decides. */
  const mutex = new Mutex()
  let isAdopted = false

  /** Where the chain is known to be, in a generation that is not older than the event's. */
  const cursorFor = async (blocks: ChainBlocks, reports: readonly Report[]): Promise<Cursor> => {
    const unconfirmed = reports.filter(({ payment }) => payment.status === 'detected').map(({ payment }) => payment.blockNumber)
    const hashes = [...blocks.payments, ...blocks.sweeps].map(({ block_hash }) => block_hash)
    const watched = blocks.watched.map(({ order_id }) => order_id)
    const read = () => store.intake.cursor(blocks.chain_id, unconfirmed, hashes, watched)
    let cursor = await read()
    if (!cursor || cursor.generation === null || cursor.generation < blocks.generation) {
      await store.chain.adopt(blocks)
      logger.warn('a new generation of the listener’s history begins: every order is to be watched again', {
        generation: blocks.generation,
      })
      isAdopted = true
      cursor = await read()
    }
    if (!cursor) throw new Error(`nothing is known of chain ${blocks.chain_id} after its history was begun`)
    return cursor
  }

  const decideOrders = async (
    ledgers: readonly IntakeLedger[],
    decide: (ledger: IntakeLedger) => readonly Payment[],
  ): Promise<DecidedOrder[]> => {
    const orders: DecidedOrder[] = []
    const uncounted: IntakeLedger[] = []
    for (const before of ledgers) {
      const changed = decide(before)
      if (changed.length === 0) continue
      const change = receivePayments(before, changed, store.chain.viewOf(before.order), now())
      if (change) orders.push({ change, before, changed })
      else uncounted.push(before)
    }
    if (uncounted.length === 0) return orders
    return [...orders, ...(await decideOrders(await store.intake.withAllPayments(uncounted), decide))]
  }

  const decide = async (event: ChainBlocks, cursor: Cursor, all: readonly Report[], memo?: string): Promise<Decided> => {
    const isOver = event.generation !== cursor.generation
    const blocks = isOver ? { ...event, advanced: null, watched: [] } : event
    const named = memo === undefined ? all : all.filter(report => report.memo === memo)
    const watched = memo === undefined ? new Map(blocks.watched.map(each => [each.order_id, each.through])) : new Map<string, number>()
    const { ledgers, attached, ...related } = await store.intake.related({
      ids: named.map(({ payment }) => payment.id),
      memos: [...new Set(named.map(report => report.memo))],
      watched: [...watched.keys()],
      gone: memo === undefined ? blocks.gone : [],
      range: memo === undefined ? blocks.advanced : null,
    })
    const unmatched = related.unmatched.filter(row => isOfChain(row, blocks.chain_id))
    const stated = memo === undefined ? statedBy(blocks, cursor) : { ...statedBy(blocks, cursor), advanced: null, gone: new Set<string>() }
    const byOrder = new Map(ledgers.map(ledger => [ledger.order.memo, ledger]))
    const attachedTo = new Map(
      ledgers.flatMap(({ order, payments }) => payments.filter(({ id }) => attached.has(id)).map(({ id }) => [id, order.memo])),
    )
    const counting = named.map(report => ({ ...report, memo: attachedTo.get(report.payment.id) ?? report.memo }))
    // The present generation states all of every order, but of money without one only what it reads itself.
    const reports = isOver ? counting.filter(({ payment, memo: of }) => payment.status === 'confirmed' && !byOrder.has(of)) : counting
    const byMemo = grouped(reports)
    const reasons = new Map<string, MismatchReason>()
    for (const [each, list] of byMemo) {
      const ledger = byOrder.get(each)
      const known = new Set(ledger?.payments.map(({ id }) => id))
      for (const [id, reason] of mismatchesOf(list, ledger?.order ?? null, known)) reasons.set(id, reason)
    }
    const isCounted = ({ payment }: Report) => !reasons.has(payment.id)
    const unmatchedById = new Map(unmatched.map(row => [row.id, row]))
    const memoOf = new Map(reports.map(({ payment, memo: of }) => [payment.id, of]))
    const orders = await decideOrders(
      // Until the listener answers that it is watched still, it does not expire.
      (isOver ? [] : ledgers).map(ledger => ({ ...ledger, isWatched: ledger.isWatched && !watched.has(ledger.order.id) })),
      ({ order, payments: known, watchedOn }) => {
        const payments = known.filter(payment => isOfChain(payment, blocks.chain_id))
        const through = watched.get(order.id) ?? -1
        const coverage = {
          isWatched: through >= 0 || (watchedOn.includes(blocks.chain_id) && !watched.has(order.id)),
          through: through >= 0 ? BigInt(through) : null,
        }
        const counted = (byMemo.get(order.memo) ?? []).filter(isCounted).map(({ payment }) => payment)
        // A late statement undoes nothing of what waits for the order to be claimed.
        const waiting = counted.flatMap(({ id }) => unmatchedById.get(id) ?? [])
        // A later statement may give the same log to another order.
        const moved = payments.filter(
          known => known.status !== 'orphaned' && memoOf.get(known.id) !== undefined && memoOf.get(known.id) !== order.memo,
        )
        const left = moved.filter(known => isNewer(stated, known)).map((known): Payment => ({ ...known, status: 'orphaned' }))
        return [
          ...changesOf([...payments, ...waiting], counted, stated, coverage).filter(({ id }) => !left.some(gone => gone.id === id)),
          ...left,
        ]
      },
    )
    const taking = new Set(orders.flatMap(({ change, changed }) => changed.map(({ id }) => `${id} ${change.order.memo}`)))
    /** Written with the order that it is of now. */
    const isTakenOver = (id: string, of: string) => memoOf.has(id) && memoOf.get(id) !== of && taking.has(`${id} ${memoOf.get(id)}`)
    const without = unmatchedChanges(unmatched, reports, reasons, stated)
    const events = [...orders.flatMap(({ change }) => change.events), ...(await notices(without, unmatched, reports))]
    return {
      orders,
      changes: orders.map(({ change }) => change),
      payments: orders.flatMap(({ change, changed }) =>
        changed.filter(({ id }) => !isTakenOver(id, change.order.memo)).map(payment => ({ ...payment, orderId: change.order.id })),
      ),
      unmatched: without,
      events: outboxRows(events, now()),
    }
  }

  /** Money that is confirmed now and counts for no order: its merchant is notified. */
  const notices = async (rows: readonly Unmatched[], known: readonly Unmatched[], reports: readonly Report[]): Promise<NewEvent[]> => {
    const before = new Map(known.map(({ id, status }) => [id, status]))
    const isNews = ({ id, status, grossUnits }: Unmatched) => status === 'confirmed' && before.get(id) !== 'confirmed' && grossUnits >= CENT
    const reported = new Map(reports.map(report => [report.payment.id, report]))
    const news = rows.filter(row => reported.has(row.id) && isNews(row) && !isDirect(row))
    const payees = await store.merchants.payeesOf(news)
    return news.flatMap(({ id, reason }) => {
      const report = reported.get(id)
      return report ? unmatchedEvents(report, reason, payees.get(id) ?? []) : []
    })
  }

  const written = ({ orders, unmatched }: Decided): void => {
    for (const { change, before, changed } of orders) {
      const was = new Map(before.payments.map(({ id, status }) => [id, status]))
      for (const payment of changed.filter(({ id, status }) => status === 'orphaned' && was.get(id) === 'confirmed')) {
        onReorged()
        logger.error('a reorg took away a confirmed payment', {
          order_id: change.order.id,
          merchant_id: change.order.merchantId,
          from: change.from,
          to: change.order.status,
          notified_paid: before.order.paidAt !== null,
          payment_id: payment.id,
          tx_hash: payment.txHash,
          gross_units: payment.grossUnits,
        })
      }
    }
    for (const { reason, status, id, memo, merchantAddress, grossUnits } of unmatched.filter(row => !isDirect(row))) {
      onUnmatched(reason)
      const about = { reason, status, payment_id: id, memo, merchant_address: merchantAddress, gross_units: grossUnits }
      logger.warn('a payment matches no order', about)
    }
  }

  /** Writes the orders of an event one by one, so that one at fault holds up no other. */
  const takeEach = async (blocks: ChainBlocks, reports: readonly Report[]): Promise<void> => {
    for (const memo of new Set(reports.map(report => report.memo))) {
      const taking = retryConflicts(async () => {
        const cursor = await cursorFor(blocks, reports)
        const decided = await decide(blocks, cursor, reports, memo)
        await store.intake.commitPart(cursor, decided)
        written(decided)
      })
      await taking.catch(error => logger.error('payments of one order cannot be taken in', { memo, error }))
    }
  }

  /** Gives an order what was paid for it before it was known here. */
  const claimEarlyPayments = async (memo: string): Promise<void> => {
    // Anyone may pay a memo of no order as often as they like: what waits is not read with each of them.
    const owner = await store.orders.ownerOf(memo)
    const early = owner ? await store.intake.early(memo) : []
    for (const [chainId, ofChain] of Map.groupBy(early, row => row.chainId)) await claimEarly(memo, chainId, ofChain)
  }

  /** Of one chain at a time: its cursor alone shows what else was counted of it meanwhile. */
  const claimEarly = (memo: string, chainId: number, early: readonly Unmatched[]): Promise<void> =>
    retryConflicts(async () => {
      const cursor = await store.intake.cursor(chainId, [], [])
      if (!cursor) return
      const query = { ids: early.map(({ id }) => id), memos: [memo] }
      const related = await store.intake.related(query)
      const ledgers = related.ledgers.filter(({ order }) => order.memo === memo)
      // Read behind the cursor: a merchant may have counted some of it for another order since.
      const isEarly = new Set(query.ids)
      const waiting = related.unmatched.filter(row => row.memo === memo && isEarly.has(row.id))
      const reports = waiting.map(row => ({ payment: row, memo, target: row }))
      const reasons = mismatchesOf(reports, ledgers[0]?.order ?? null, new Set(ledgers[0]?.payments.map(({ id }) => id)))
      const counted = waiting.filter(({ id }) => !reasons.has(id))
      const orders = await decideOrders(ledgers, ({ payments }) => counted.filter(({ id }) => !payments.some(known => known.id === id)))
      const changes = orders.map(({ change }) => change)
      const payments = orders.flatMap(({ change, changed }) => changed.map(payment => ({ ...payment, orderId: change.order.id })))
      const events = outboxRows(
        changes.flatMap(change => change.events),
        now(),
      )
      if (changes.length > 0) await store.intake.commitPart(cursor, { changes, payments, unmatched: [], events })
      await store.intake.setReasons(reasons)
    })

  /** Counts money without an order for one. Null where the money is not there, or counts for an order by now. */
  const attachPayment = (attachment: Attachment, chainId: number, answersOf: (order: Order) => StoredAnswer[]) =>
    retryConflicts(async () => {
      const { paymentId, orderId } = attachment
      const cursor = await store.intake.cursor(chainId, [], [])
      const { ledgers, unmatched } = await store.intake.related({ ids: [paymentId], memos: [], orders: [orderId] })
      const [before] = await store.intake.withAllPayments(ledgers.filter(({ order }) => order.id === orderId))
      const row = unmatched.find(({ id }) => id === paymentId)
      if (!cursor || !before || !row) return null
      // Read behind the order, whose version a refund moves on.
      requireNonePromised(await store.refunds.ofOrder(orderId))
      const history = await store.orders.history(orderId)
      if (history) requireNoneComing(history)
      // Handled money, which may have gone back to its payer, would count with it.
      if (row.reason === 'wrong_chain' && (await store.attention.isOtherHandled(before.order.merchantId, row)))
        throw new ApiError(
          'invalid_state',
          'Other money that came for the order on this network is marked as handled: reopen that first, or return this too.',
        )
      const rest = row.reason === 'wrong_chain' ? await store.intake.besideOnChain(row) : []
      const { counted, ...change } = attach(before, row, rest, attachment, store.chain.viewOf)
      const taken = {
        changes: [change],
        payments: counted.map(payment => ({ ...payment, orderId })),
        unmatched: [],
        events: outboxRows(change.events, attachment.attachedAt),
      }
      const unit = store.intake.attachedUnit(cursor, taken, attachment, answersOf(change.order))
      if (!(await store.links.decide(change, unit)))
        throw new ApiError(
          'invalid_state',
          'Another order of its invoice is paid already: choose another one, or mark the payment as handled.',
        )
      return change.order
    })

  const take = async (blocks: ChainBlocks, eventId: string): Promise<Decided> => {
    if (blocks.parts && !(await store.chain.hasTaken(blocks.parts)))
      throw new RetryableError('The other parts of what this event states have not come yet.')
    const [reports, swept] = [reportsOf(blocks), sweepsOf(blocks)]
    await store.intake.takeOver([...reports.map(({ payment }) => payment), ...swept])
    const decided = await retryConflicts(async () => {
      const cursor = await cursorFor(blocks, reports)
      const taken = await decide(blocks, cursor, reports)
      const stands = swept.filter(sweep => {
        const gone = cursor.gone.get(sweep.blockHash)
        return !gone || isNewer(sweep, gone)
      })
      await store.intake.commit(blocks, cursor, taken, stands, eventId)
      return taken
    }).catch(async error => {
      if (reports.length > 1 && isFault(error)) await takeEach(blocks, reports)
      throw error
    })
    if (isAdopted) await adopted()
    isAdopted = false
    written(decided)
    // An order may have been created since it was looked for.
    const unknown = decided.unmatched.filter(row => row.reason === 'unknown_memo' && !isDirect(row)).map(({ memo }) => memo)
    for (const memo of await store.orders.memosOf([...new Set(unknown)])) await claimEarlyPayments(memo)
    return decided
  }

  return {
    claimEarlyPayments,
    attach: (...args: Parameters<typeof attachPayment>) => mutex.runExclusive(() => attachPayment(...args)),
    /** Answers the orders that changed. */
    take: (blocks: ChainBlocks, eventId: string): Promise<Decided> => mutex.runExclusive(() => take(blocks, eventId)),
  }
}

function grouped(reports: readonly Report[]): Map<string, Report[]> {
  const groups = new Map<string, Report[]>()
  for (const report of reports) {
    const group = groups.get(report.memo)
    if (group) group.push(report)
    else groups.set(report.memo, [report])
  }
  return groups
}

/** Neither the database's absence nor a copy of an event that was handled. */
const isFault = (error: unknown): boolean =>
  !isTransient(error) && !isUniqueViolation(error, 'inbox_pkey') && !(error instanceof RetryableError)

const statedBy = (blocks: ChainBlocks, cursor: Cursor): Blocks => ({
  generation: blocks.generation,
  version: blocks.version,
  advanced: blocks.advanced && { from: BigInt(blocks.advanced.from), to: BigInt(blocks.advanced.to) },
  gone: new Set(blocks.gone),
  goneAt: hash => cursor.gone.get(hash),
  isConfirmed: block => cursor.confirmedBlocks.has(block),
})
