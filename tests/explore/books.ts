import { ApiError, type ChainBlocks } from '@ponte/contracts'
import { orderRules } from '@ponte/orders'

export type OrderRules = typeof orderRules
type Order = orderRules.Order
type Payment = orderRules.Payment
type Stated = orderRules.Stated

/** Rows of orders about one order and its chains, which the rules are asked with, as the store reads and writes them. */
export interface Books {
  order: Order
  payments: readonly Payment[]
  /** Money that carries the memo of no order or came on a network that this one does not offer, and what of it was attached to this one. */
  strays: readonly orderRules.Stray[]
  attached: ReadonlySet<string>
  /** Events about this order in the dead letters, of those that are not handled yet. */
  parked: ReadonlySet<number>
  chains: readonly ChainBooks[]
}

export interface ChainBooks {
  chainId: number
  generation: string | null
  since: number
  ranges: readonly (readonly [from: number, to: number])[]
  advances: readonly { toBlock: number; time: Date }[]
  leases: readonly { lease: string; seenVersion: number; endedVersion: number | null }[]
  gone: ReadonlyMap<string, Stated>
  watched: { generation: string; version: number; through: number } | null
  /** The chain as this replica last looked; another one looks at another time. */
  view: orderRules.ChainView
}

export const emptyBooks = (order: Order): Books => ({
  ...{ order, payments: [], strays: [], attached: new Set(), parked: new Set() },
  chains: [order, ...order.networks].map(({ chainId }) => ({
    ...{ chainId, generation: null, since: 0, ranges: [], advances: [], leases: [], gone: new Map(), watched: null },
    view: { time: null, generation: null },
  })),
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

const isWatchedOn = ({ watched, generation }: ChainBooks) => watched !== null && watched.generation === generation && watched.through >= 0
const watchedOn = ({ chains }: Books) => chains.filter(isWatchedOn).map(({ chainId }) => chainId)
export const ledgerOf = (books: Books, rules: OrderRules): orderRules.Ledger => ({
  order: books.order,
  isHeld: books.parked.size > 0,
  ...rules.factsOf(rules.chainIdsOf(books.order), watchedOn(books), books.chains),
})

export const viewOf = ({ chains }: Books, order: Order, rules: OrderRules): orderRules.ChainView =>
  rules.viewOf(rules.chainIdsOf(order), id => chains.find(({ chainId }) => chainId === id)?.view)

const chainOf = ({ chains }: Books, id: number): ChainBooks => {
  const found = chains.find(({ chainId }) => chainId === id)
  if (!found) throw new Error(`Chain ${id} is not followed.`)
  return found
}
const withChain = (books: Books, chain: ChainBooks): Books => ({
  ...books,
  chains: books.chains.map(one => (one.chainId === chain.chainId ? chain : one)),
})

/** Takes an event in, as `intake` does: adopts a newer generation, changes the payments, judges the order, and moves the cursor. */
export function take(books: Books, { blocks, reports }: Reported, rules: OrderRules): Outcome {
  const before = chainOf(books, blocks.chain_id)
  const known = before.generation === null || before.generation < blocks.generation ? adopted(before, blocks) : before
  if (known.generation !== blocks.generation) return { books, events: NOTHING }
  const all = withChain(books, known)
  const answer = blocks.watched.find(({ order_id }) => order_id === books.order.id)
  const ledger = ledgerOf(all, rules)
  const through = answer?.through ?? -1
  const stated: orderRules.Blocks = {
    generation: blocks.generation,
    version: blocks.version,
    advanced: blocks.advanced && { from: BigInt(blocks.advanced.from), to: BigInt(blocks.advanced.to) },
    gone: new Set(blocks.gone),
    goneAt: hash => known.gone.get(hash),
    isConfirmed: block => known.ranges.some(([from, to]) => from <= block && block <= to),
  }
  const isOurs = ({ memo, payment }: orderRules.Report) => memo === books.order.memo || books.attached.has(payment.id)
  const reasons = rules.mismatchesOf(reports.filter(isOurs), books.order, new Set(books.payments.map(({ id }) => id)))
  const isOwn = (report: orderRules.Report) => isOurs(report) && !reasons.has(report.payment.id)
  const isOfChain = (payment: { id: string }) => rules.isOfChain(payment, blocks.chain_id)
  const coverage = {
    isWatched: through >= 0 || (isWatchedOn(known) && answer === undefined),
    through: through >= 0 ? BigInt(through) : null,
  }
  const counted = reports.filter(isOwn).map(({ payment }) => payment)
  const changed = rules.changesOf(books.payments.filter(isOfChain), counted, stated, coverage)
  const foreign = reports.filter(report => !isOwn(report))
  const strays = straysAfter(books.strays, foreign, reasons, stated, isOfChain, rules)
  const moved = { ...withChain(books, cursorMoved(known, blocks, answer, rules)), strays }
  if (changed.length === 0) return { books: moved, events: NOTHING }
  // While it is not stated that it is watched still, it does not expire.
  return received(moved, books.payments, { ...ledger, isWatched: ledger.isWatched && answer === undefined }, changed, rules)
}

function received(
  moved: Books,
  payments: readonly Payment[],
  facts: orderRules.Ledger,
  changed: readonly Payment[],
  rules: OrderRules,
): Outcome {
  const ids = new Set(changed.map(({ id }) => id))
  const view = viewOf(moved, facts.order, rules)
  const change =
    rules.receivePayments({ ...facts, payments: payments.filter(({ id }) => ids.has(id)), isAll: false }, changed, view, AT) ??
    rules.receivePayments({ ...facts, payments, isAll: true }, changed, view, AT)
  if (!change) return { books: moved, events: NOTHING }
  return { books: { ...moved, payments: orderRules.withPayments(payments, changed), order: numbered(change) }, events: change.events }
}

function straysAfter(
  known: readonly orderRules.Stray[],
  foreign: readonly orderRules.Report[],
  reasons: ReadonlyMap<string, orderRules.Stray['reason']>,
  stated: orderRules.Blocks,
  isOfChain: (payment: { id: string }) => boolean,
  rules: OrderRules,
): readonly orderRules.Stray[] {
  const strayOf = ({ payment, memo, target }: orderRules.Report): orderRules.Stray => ({
    ...{ ...target, ...payment, memo, reason: reasons.get(payment.id) ?? 'unknown_memo' },
  })
  const all = [...known, ...foreign.map(strayOf).filter(({ id }) => !known.some(one => one.id === id))]
  const changed = rules.changesOf(
    known.filter(isOfChain),
    foreign.map(({ payment }) => payment),
    stated,
    { isWatched: true, through: null },
  )
  return all.map(one => ({ ...one, ...changed.find(({ id }) => id === one.id) }))
}

/** An event goes to the dead letters: its range counts as read, and an order that it names is held. */
export function park(books: Books, index: number, { blocks, reports }: Reported): Books {
  const held = { ...books, parked: reports.length > 0 ? new Set([...books.parked, index]) : books.parked }
  const known = chainOf(books, blocks.chain_id)
  if (known.generation !== blocks.generation) return held
  const chain = { ...known, leases: leased(known.leases, blocks) }
  if (!blocks.advanced) return withChain(held, chain)
  const { from, to, time } = blocks.advanced
  return withChain(held, {
    ...chain,
    ranges: merged([...chain.ranges, [from, to]]),
    advances: [...chain.advances, { toBlock: to, time: new Date(time) }],
  })
}

/** It was handled after all. */
export const unpark = (books: Books, index: number): Books => ({
  ...books,
  parked: new Set([...books.parked].filter(one => one !== index)),
})

/** A chain as it is known now, as the expiry's look remembers it. */
export function refreshed(books: Books, chainId: number, rules: OrderRules): Books {
  const chain = chainOf(books, chainId)
  const { generation, leases, view } = chain
  if (generation === null) return books
  const time = rules.isCertain(leases) ? rules.confirmedTimeOf({ ...chain, confirmedTime: null }, LATEST) : null
  if (view.generation === generation && view.time?.getTime() === time?.getTime()) return books
  return withChain(books, { ...chain, view: { time, generation } })
}
export const allRefreshed = (books: Books, rules: OrderRules): Books =>
  books.chains.reduce((known, { chainId }) => refreshed(known, chainId, rules), books)

/** The expiry's look at one order, by the chains as this replica last knew them. */
export function looked(books: Books, rules: OrderRules): Outcome {
  const view = viewOf(books, books.order, rules)
  const isOpen = ['pending', 'underpaid', 'confirming'].includes(books.order.status)
  // The query of what is due leaves out what is not watched or is held; the verdict has to know that by itself.
  if (view.time === null || !isOpen || view.time < books.order.expiresAt) return { books, events: NOTHING }
  const change = rules.review(ledgerOf(books, rules), view, AT)
  return change.order.status === books.order.status && change.events.length === 0 ? { books, events: NOTHING } : commanded(books, change)
}

export const commanded = (books: Books, change: orderRules.Change | null): Outcome =>
  change ? { books: { ...books, order: numbered(change) }, events: change.events } : { books, events: NOTHING }

export type Command = 'accept' | 'attach' | 'cancel' | 'supersede' | 'release'

export const command = (name: Command, books: Books, rules: OrderRules): Outcome => {
  if (name === 'attach') return attached(books, rules)
  if (name === 'cancel') return commanded(books, rules.cancel(books.order, AT))
  const [ledger, view] = [ledgerOf(books, rules), viewOf(books, books.order, rules)]
  if (name === 'accept') return commanded(books, rules.accept(ledger, { reason: 'an exchange kept it', by: null }, view, AT))
  return commanded(books, rules[name](ledger, view, AT))
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
  const rest = stray.reason === 'wrong_chain' ? books.strays.slice(1) : []
  const { counted, ...change } = rules.attach(ledger, stray, rest, attachment, order => viewOf(books, order, rules))
  const moved = {
    ...books,
    payments: orderRules.withPayments(books.payments, counted),
    strays: books.strays.filter(one => !counted.includes(one)),
    attached: new Set([...books.attached, stray.id]),
  }
  return commanded(moved, change)
}

const numbered = ({ order }: orderRules.Change): Order => ({ ...order, version: order.version + 1 })

const adopted = (chain: ChainBooks, { generation, since }: ChainBlocks): ChainBooks => ({
  ...chain,
  ...{ generation, since, ranges: [], advances: [], leases: [] },
})

function cursorMoved(
  known: ChainBooks,
  blocks: ChainBlocks,
  answer: ChainBlocks['watched'][number] | undefined,
  rules: OrderRules,
): ChainBooks {
  const { generation, version, advanced } = blocks
  const gone = new Map(known.gone)
  for (const hash of blocks.gone) {
    const before = gone.get(hash)
    if (!before || rules.isNewer({ generation, version }, before)) gone.set(hash, { generation, version })
  }
  const isNews = answer !== undefined && (known.watched === null || rules.isNewer({ generation, version }, known.watched))
  return {
    ...known,
    gone,
    since: Math.min(known.since, blocks.since),
    ranges: advanced ? merged([...known.ranges, [advanced.from, advanced.to]]) : known.ranges,
    advances: advanced ? [...known.advances, { toBlock: advanced.to, time: new Date(advanced.time) }] : known.advances,
    leases: leased(known.leases, blocks),
    watched: isNews ? { generation, version, through: answer.through } : known.watched,
  }
}

function leased(leases: ChainBooks['leases'], { lease, version, earlier }: ChainBlocks): ChainBooks['leases'] {
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
