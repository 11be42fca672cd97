import { ApiError, type ChainBlocks } from '@ponte/contracts'
import { orderRules } from '@ponte/orders'

export type OrderRules = Pick<
  typeof orderRules,
  | 'accept'
  | 'attach'
  | 'cancel'
  | 'changesOf'
  | 'confirmedTimeOf'
  | 'isCertain'
  | 'isNewer'
  | 'receivePayments'
  | 'release'
  | 'review'
  | 'supersede'
  | 'watermarkOf'
>
type Order = orderRules.Order
type Payment = orderRules.Payment
type Stated = orderRules.Stated

/** What orders holds about one order and its chain: the rows that the rules are asked with, as the store reads and writes them. */
export interface Books {
  order: Order
  payments: readonly Payment[]
  /** Money that carries the memo of no order, and what of it was attached to this one. */
  strays: readonly orderRules.Stray[]
  attached: ReadonlySet<string>
  generation: string | null
  since: number
  ranges: readonly (readonly [from: number, to: number])[]
  advances: readonly { toBlock: number; time: Date }[]
  leases: readonly { lease: string; seenVersion: number; endedVersion: number | null }[]
  gone: ReadonlyMap<string, Stated>
  watched: { generation: string; version: number; through: number } | null
  /** Events about this order in the dead letters, of those that are not handled yet. */
  parked: ReadonlySet<number>
  /** The chain as this replica last looked; another one looks at another time. */
  view: orderRules.ChainView
}

export const emptyBooks = (order: Order): Books => ({
  order,
  payments: [],
  strays: [],
  attached: new Set(),
  generation: null,
  since: 0,
  ranges: [],
  advances: [],
  leases: [],
  gone: new Map(),
  watched: null,
  parked: new Set(),
  view: { time: null, generation: null },
})

/** An event of the listener, read once for all walks. */
export interface Reported {
  blocks: ChainBlocks
  reports: readonly orderRules.Report[]
}

export const reported = (blocks: ChainBlocks): Reported => ({ blocks, reports: orderRules.reportsOf(blocks) })

/** What came of a step: the books afterwards, and the types of what was published. */
export interface Outcome {
  books: Books
  events: orderRules.Change['events']
}

const AT = new Date('2030-01-01T00:00:00Z')
/** Our clock lets every time be believed here. */
const LATEST = new Date('2040-01-01T00:00:00Z')
const NOTHING: Outcome['events'] = []

export const ledgerOf = ({ order, watched, generation, parked, leases }: Books, rules: OrderRules): orderRules.Ledger => ({
  order,
  isWatched: watched !== null && watched.generation === generation && watched.through >= 0,
  isHeld: parked.size > 0,
  generation,
  isDoubtful: !rules.isCertain(leases),
})

/** Takes an event in, as `intake` does: adopts a newer generation, changes the payments, judges the order, and moves the cursor. */
export function take(books: Books, { blocks, reports }: Reported, rules: OrderRules): Outcome {
  const known = books.generation === null || books.generation < blocks.generation ? adopted(books, blocks) : books
  if (known.generation !== blocks.generation) return { books, events: NOTHING }
  const answer = blocks.watched.find(({ order_id }) => order_id === known.order.id)
  const ledger = ledgerOf(known, rules)
  // While it is not stated that it is watched still, it does not expire.
  const isWatched = ledger.isWatched && answer === undefined
  const through = answer?.through ?? -1
  const stated: orderRules.Blocks = {
    generation: blocks.generation,
    version: blocks.version,
    advanced: blocks.advanced && { from: BigInt(blocks.advanced.from), to: BigInt(blocks.advanced.to) },
    gone: new Set(blocks.gone),
    goneAt: hash => known.gone.get(hash),
    isConfirmed: block => known.ranges.some(([from, to]) => from <= block && block <= to),
  }
  const isOwn = ({ memo, payment }: orderRules.Report) => memo === known.order.memo || known.attached.has(payment.id)
  const strays = straysAfter(known.strays, reports, isOwn, stated, rules)
  const coverage = { isWatched: through >= 0 || isWatched, through: through >= 0 ? BigInt(through) : null }
  const counted = reports.filter(isOwn).map(({ payment }) => payment)
  const changed = rules.changesOf(known.payments, counted, stated, coverage)
  const moved = { ...cursorMoved(known, blocks, answer, rules), strays }
  if (changed.length === 0) return { books: moved, events: NOTHING }
  const ids = new Set(changed.map(({ id }) => id))
  const some = known.payments.filter(({ id }) => ids.has(id))
  const facts = { ...ledger, isWatched }
  const change =
    rules.receivePayments({ ...facts, payments: some, isAll: false }, changed, known.view, AT) ??
    rules.receivePayments({ ...facts, payments: known.payments, isAll: true }, changed, known.view, AT)
  const payments = orderRules.withPayments(known.payments, changed)
  return change ? { books: { ...moved, payments, order: numbered(change) }, events: change.events } : { books: moved, events: NOTHING }
}

function straysAfter(
  known: readonly orderRules.Stray[],
  reports: readonly orderRules.Report[],
  isOwn: (report: orderRules.Report) => boolean,
  stated: orderRules.Blocks,
  rules: OrderRules,
): readonly orderRules.Stray[] {
  const foreign = reports.filter(report => !isOwn(report))
  const all = [...known, ...foreign.map(strayOf).filter(({ id }) => !known.some(one => one.id === id))]
  const changed = rules.changesOf(
    known,
    foreign.map(({ payment }) => payment),
    stated,
    { isWatched: true, through: null },
  )
  return all.map(one => ({ ...one, ...changed.find(({ id }) => id === one.id) }))
}
const strayOf = ({ payment, memo, target }: orderRules.Report): orderRules.Stray => ({
  ...{ ...target, ...payment, memo, reason: 'unknown_memo' },
})

/** An event goes to the dead letters: its range counts as read, and an order that it names is held. */
export function park(books: Books, index: number, { blocks, reports }: Reported): Books {
  const held = reports.length > 0 ? new Set([...books.parked, index]) : books.parked
  if (books.generation !== blocks.generation) return { ...books, parked: held }
  const leases = leased(books.leases, blocks)
  if (!blocks.advanced) return { ...books, parked: held, leases }
  const { from, to, time } = blocks.advanced
  return {
    ...books,
    parked: held,
    leases,
    ranges: merged([...books.ranges, [from, to]]),
    advances: [...books.advances, { toBlock: to, time: new Date(time) }],
  }
}

/** It was handled after all. */
export const unpark = (books: Books, index: number): Books => ({
  ...books,
  parked: new Set([...books.parked].filter(one => one !== index)),
})

/** The chain as it is known now, as the expiry's look remembers it. */
export function refreshed(books: Books, rules: OrderRules): Books {
  if (books.generation === null) return books
  const time = rules.isCertain(books.leases) ? rules.confirmedTimeOf({ ...books, confirmedTime: null }, LATEST) : null
  if (books.view.generation === books.generation && books.view.time?.getTime() === time?.getTime()) return books
  return { ...books, view: { time, generation: books.generation } }
}

/** The expiry's look at one order, by the chain as this replica last knew it. */
export function looked(books: Books, rules: OrderRules): Outcome {
  const { time } = books.view
  const isOpen = ['pending', 'underpaid', 'confirming'].includes(books.order.status)
  // The query of what is due leaves out what is not watched or is held; the verdict has to know that by itself.
  if (time === null || !isOpen || time < books.order.expiresAt) return { books, events: NOTHING }
  const change = rules.review(ledgerOf(books, rules), books.view, AT)
  return change.order.status === books.order.status && change.events.length === 0 ? { books, events: NOTHING } : commanded(books, change)
}

export const commanded = (books: Books, change: orderRules.Change | null): Outcome =>
  change ? { books: { ...books, order: numbered(change) }, events: change.events } : { books, events: NOTHING }

export type Command = 'accept' | 'attach' | 'cancel' | 'supersede' | 'release'

export const command = (name: Command, books: Books, rules: OrderRules): Outcome => {
  if (name === 'accept')
    return commanded(books, rules.accept(ledgerOf(books, rules), { reason: 'an exchange kept it', by: null }, books.view, AT))
  if (name === 'attach') return attached(books, rules)
  if (name === 'cancel') return commanded(books, rules.cancel(books.order, AT))
  return commanded(books, rules[name](ledgerOf(books, rules), books.view, AT))
}

/** The payment becomes one of the order's, and the word stands beside it. */
function attached(books: Books, rules: OrderRules): Outcome {
  const [stray] = books.strays
  if (!stray) throw new ApiError('not_found', 'There is no money without an order.')
  const attachment = {
    paymentId: stray.id,
    orderId: books.order.id,
    memo: stray.memo,
    reason: 'it is theirs',
    attachedBy: null,
    attachedAt: AT,
  }
  const ledger = { ...ledgerOf(books, rules), payments: books.payments, isAll: true }
  const change = rules.attach(ledger, stray, attachment, () => books.view)
  const moved = {
    ...books,
    payments: orderRules.withPayments(books.payments, [stray]),
    strays: books.strays.filter(({ id }) => id !== stray.id),
    attached: new Set([...books.attached, stray.id]),
  }
  return commanded(moved, change)
}

const numbered = ({ order }: orderRules.Change): Order => ({ ...order, version: order.version + 1 })

const adopted = (books: Books, { generation, since }: ChainBlocks): Books => ({
  ...books,
  ...{ generation, since, ranges: [], advances: [], leases: [] },
})

function cursorMoved(books: Books, blocks: ChainBlocks, answer: ChainBlocks['watched'][number] | undefined, rules: OrderRules): Books {
  const { generation, version, advanced } = blocks
  const gone = new Map(books.gone)
  for (const hash of blocks.gone) {
    const known = gone.get(hash)
    if (!known || rules.isNewer({ generation, version }, known)) gone.set(hash, { generation, version })
  }
  const isNews = answer !== undefined && (books.watched === null || rules.isNewer({ generation, version }, books.watched))
  return {
    ...books,
    gone,
    since: Math.min(books.since, blocks.since),
    ranges: advanced ? merged([...books.ranges, [advanced.from, advanced.to]]) : books.ranges,
    advances: advanced ? [...books.advances, { toBlock: advanced.to, time: new Date(advanced.time) }] : books.advances,
    leases: leased(books.leases, blocks),
    watched: isNews ? { generation, version, through: answer.through } : books.watched,
  }
}

function leased(leases: Books['leases'], { lease, version, earlier }: ChainBlocks): Books['leases'] {
  const known = new Map(leases.map(one => [one.lease, one]))
  const note = (name: string, seen: number, ended: number | null) => {
    const before = known.get(name)
    const endedVersion = before?.endedVersion ?? ended
    known.set(name, {
      lease: name,
      seenVersion: Math.max(before?.seenVersion ?? 0, seen),
      endedVersion: endedVersion === null || ended === null ? endedVersion : Math.min(endedVersion, ended),
    })
  }
  for (const one of earlier) note(one.lease, 0, one.version)
  note(lease, version, null)
  return [...known.values()]
}

function merged(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const all: [number, number][] = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else all.push([from, to])
  }
  return all
}
