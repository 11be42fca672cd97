import { orderRules } from '@ponte/orders'
import {
  allRefreshed,
  type Books,
  type ChainBooks,
  type Command,
  command,
  emptyBooks,
  looked,
  type OrderRules,
  type Outcome,
  park,
  refreshed,
  reported,
  take,
  unpark,
} from './books'
import { EXPIRES, FIRST, type History, MEMO, ORDER_ID, played, SECOND, type Standing, time } from './chain'
import { explore, type Model, type Step, type Walk } from './explorer'

/** What can happen to an order beside its payments. */
export interface OrderScope {
  /** What the merchant and the plan ask for, each once, at any moment. */
  commands: readonly Command[]
  /** So many events may go to the dead letters, to be handled later or never. */
  parkedMax: number
}

export interface OrderState {
  books: Books
  /** Bits of the events that were read, and of those in the dead letters. */
  read: number
  parked: number
  commanded: number
  paid: number
  expired: number
  cancelled: number
  /** What was confirmed when the merchant accepted it; null when they did not. */
  accepted: bigint | null
  /** Whether the order had expired when money of no order was attached; null when none was. */
  attached: 'before its end' | 'after it expired' | null
  /** The sum that was last notified as too little. */
  notified: string
  fault: string | null
}

const CENT = 10_000n
const ASKED = 100
const REQUIRED = 99

const order = (subscriptionId: string | null, second: History['second']): orderRules.Order => ({
  ...orderRules.open(
    {
      ...{ id: ORDER_ID, memo: MEMO, subscriptionId, externalRef: null, description: null, metadata: {} },
      terms: { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 1, display_name: 'Padaria', payout_address: '0x01' },
      ...{ brlCentavos: 500n, expiresAt: time(EXPIRES) },
    },
    { rateMicros: 5_000_000n, source: 'static', asOf: time(0), spreadBps: 0 },
    { chainId: FIRST, tokenAddress: '0x02', routerAddress: '0x03', feeBps: 100n, tolerance: { defaultUnits: CENT, maxUnits: 5_000_000n } },
    time(0),
  ),
  depositAddress: '0x04',
  networks: second
    ? [
        {
          ...{ chainId: SECOND, isOffered: second === 'offered', tokenAddress: '0x02', routerAddress: '0x03', depositAddress: '0x04' },
          ...{ watchFrom: 0, merchantIsContract: false },
        },
      ]
    : [],
})

/** One history of the chain: every order in which its events arrive, again or never, and every moment of a look and of a command. */
export function orderModel(history: History, scope: OrderScope, rules: OrderRules = orderRules): Model<OrderState> {
  const { events, standing } = played(history)
  const messages = events.map(reported)
  const maskOf = (isMeant: (message: (typeof messages)[number]) => boolean) =>
    messages.reduce((mask, message, index) => (isMeant(message) ? mask | (1 << index) : mask), 0)
  const all = maskOf(() => true)
  const ofFirst = maskOf(({ blocks }) => blocks.chain_id === FIRST)
  const truths = {
    own: truthOf(standing.map(one => (one.isStray ? { ...one, block: null, isInTime: false } : one))),
    all: truthOf(standing),
  }
  const truthIn = ({ attached }: Pick<OrderState, 'attached'>) => (attached === null ? truths.own : truths.all)
  const name = (index: number) => describe(messages[index]?.blocks)
  const isPeriod = scope.commands.some(one => one === 'supersede' || one === 'release')

  return {
    start: {
      books: emptyBooks(order(isPeriod ? '01981f3c-0000-7000-8000-000000000003' : null, history.second)),
      ...{ read: 0, parked: 0, commanded: 0, paid: 0, expired: 0, cancelled: 0, accepted: null, attached: null, notified: '', fault: null },
    },
    key: keyOf,
    *steps(state) {
      for (const [index, message] of messages.entries()) {
        const bit = 1 << index
        if ((state.parked & bit) === 0) {
          const isAgain = (state.read & bit) !== 0
          const outcome = take(state.books, message, rules)
          const isSame = isAgain && outcome.events.length === 0 && outcome.books.payments === state.books.payments
          const next = isSame ? state : after({ ...state, read: state.read | bit }, outcome)
          yield { name: `orders reads${isAgain ? ' again' : ''}: ${name(index)}`, next }
        }
        if ((state.parked & bit) !== 0) {
          const outcome = take(unpark(state.books, index), message, rules)
          yield {
            name: `a dead letter is handled: ${name(index)}`,
            next: after({ ...state, read: state.read | bit, parked: state.parked & ~bit }, outcome),
          }
        } else if ((state.read & bit) === 0 && bits(state.parked) < scope.parkedMax) {
          yield {
            name: `to the dead letters: ${name(index)}`,
            next: { ...state, parked: state.parked | bit, books: park(state.books, index, message) },
          }
        }
      }
      for (const { chainId } of state.books.chains)
        yield {
          name: `a replica looks how far ${chainName(chainId)} is known`,
          next: { ...state, books: refreshed(state.books, chainId, rules) },
        }
      yield { name: 'it expires what is due', next: after(state, looked(state.books, rules)) }
      yield* commandsOf(state)
    },
    faults: state => [...(state.fault === null ? [] : [state.fault]), ...faultsOf(state)],
  }

  function* commandsOf(state: OrderState): Iterable<Step<OrderState>> {
    for (const [index, one] of scope.commands.entries()) {
      if ((state.commanded & (1 << index)) !== 0) continue
      const outcome = attempt(() => command(one, state.books, rules))
      if (!outcome) continue
      const next = after({ ...state, commanded: state.commanded | (1 << index) }, outcome)
      if (one === 'accept') {
        yield {
          name: COMMANDS[one],
          next: { ...next, accepted: state.books.order.confirmedUnits, fault: acceptFault(state) ?? next.fault },
        }
        continue
      }
      if (one === 'attach') {
        const attached = state.expired > 0 ? 'after it expired' : 'before its end'
        yield { name: COMMANDS[one], next: { ...next, attached, fault: attachFault(state) ?? next.fault } }
        continue
      }
      const isTouched = state.books.payments.some(({ status, grossUnits }) => status !== 'orphaned' && grossUnits >= CENT)
      yield {
        name: COMMANDS[one],
        next: next.cancelled > state.cancelled && isTouched ? { ...next, fault: 'cancelled while money for it is known' } : next,
      }
    }
  }

  /** What the merchant's word would do that it must not. */
  function acceptFault({ books, paid, accepted }: OrderState): string | null {
    const confirmed = books.payments.reduce((sum, { status, grossUnits }) => (status === 'confirmed' ? sum + grossUnits : sum), 0n)
    if (confirmed < CENT) return 'accepted while nothing is confirmed'
    if (accepted !== null || paid > 0) return 'accepted although it was paid'
    return books.order.supersededAt === null ? null : 'accepted although another order of its period is paid'
  }

  /** Harm that counting money by hand must not do. */
  function attachFault({ books, paid }: OrderState): string | null {
    if (books.strays[0]?.status !== 'confirmed') return 'attached before it is confirmed'
    return paid > 0 ? 'attached although it was paid' : null
  }

  function after(state: OrderState, { books, events: published }: Outcome): OrderState {
    let { paid, expired, cancelled, notified } = state
    let fault: string | null = null
    const truth = truthIn({ attached: books.attached.size > 0 ? 'before its end' : null })
    for (const { type, data } of published) {
      if (type === 'order.paid') paid++
      if (type === 'order.expired') expired++
      if (type === 'order.cancelled') cancelled++
      if (type === 'order.expired' && isConfirming(books)) fault = 'order.expired while what would pay it is being confirmed'
      if (type === 'order.paid' && truth.isShallow && !standsOf(standing, txHashIn(data))) fault = 'order.paid names a payment that is gone'
      if (type === 'order.underpaid') {
        const sum = books.order.notifiedUnits.toString().padStart(12)
        if (sum <= notified) fault = 'order.underpaid comes again for the same sum'
        if (paid > 0) fault = 'order.underpaid comes after order.paid'
        notified = sum
      }
    }
    return { ...state, books, paid, expired, cancelled, notified, fault }
  }

  function faultsOf(state: OrderState): string[] {
    const { books, paid, expired, cancelled, accepted } = state
    const { status, confirmedUnits, seenUnits, exception, txHash, paidAt } = books.order
    const faults: string[] = []
    const truth = truthIn(state)
    if (paid > 1) faults.push('order.paid is published twice')
    if (expired > 1) faults.push('order.expired is published twice')
    if (cancelled > 1) faults.push('order.cancelled is published twice')
    if (paid > 0 && cancelled > 0 && accepted === null) faults.push('order.paid and order.cancelled are both published')
    if (accepted !== null && confirmedUnits >= accepted !== (status === 'paid'))
      faults.push(`accepted, its money is ${confirmedUnits} of ${accepted}, and it is ${status}`)
    if ((status === 'paid' && paid === 0) || paid > 0 !== (paidAt !== null)) faults.push('paid without its event')
    if (status === 'expired' && expired === 0 && paid === 0) faults.push('expired without its event')
    if (accepted === null && (status === 'cancelled') !== cancelled > 0) faults.push('cancelled is not what was published')
    if (seenUnits < confirmedUnits) faults.push('more is confirmed than was seen')
    // Who was notified of `paid` is notified of no less afterwards.
    if (status === 'underpaid' && paid === 0 && seenUnits === confirmedUnits && confirmedUnits - BigInt(state.notified.trim() || 0) >= CENT)
      faults.push('what came is too little, and no notice has its sum')
    if (status === 'pending' && isClosing(state) && paidAt === null && sumOf(books, ['detected', 'confirmed']) < CENT)
      faults.push('its plan has ended, no money counts for it, and it can still be paid')
    if (truth.isShallow && paid > 0 && accepted === null && truth.inTime < REQUIRED)
      faults.push('order.paid, and the chain does not hold what pays it in time')
    if (truth.isShallow && expired > 0 && truth.inTime >= REQUIRED && state.attached !== 'after it expired')
      faults.push('order.expired, and it was paid in time')
    if (!isQuiet(state)) return faults
    const stands = accepted !== null && BigInt(truth.sum) * CENT >= accepted
    const wanted = stands ? 'paid' : cancelled > 0 ? 'cancelled' : truth.inTime >= REQUIRED ? 'paid' : 'expired'
    if (status !== wanted) faults.push(`everything was read: the order is ${status} and the chain says ${wanted}`)
    if (confirmedUnits !== BigInt(truth.sum) * CENT) faults.push('everything was read: the confirmed sum is not what the chain holds')
    if (seenUnits !== confirmedUnits) faults.push('everything was read: something is still on its way')
    if (truth.isShallow && exception !== exceptionOf(status, state))
      faults.push(`everything was read: the order says ${exception}, the chain ${exceptionOf(status, state)}`)
    if (status === 'paid' && !standsOf(standing, txHash)) faults.push('everything was read: tx_hash names a payment that is gone')
    if (books.order.completingTxHash !== truth.completing)
      faults.push(`everything was read: ${books.order.completingTxHash} completed it, and by the chains ${truth.completing}`)
    return faults
  }

  /** All of it was read, and was looked at since. */
  function isQuiet({ books, read, parked, attached }: OrderState): boolean {
    // A network that the order does not offer may stand still.
    const needed = history.second === 'not offered' && attached === null ? ofFirst : all
    if ((read & needed) !== needed || parked !== 0) return false
    return allRefreshed(books, rules) === books && looked(books, rules).books === books
  }

  /** The plan has asked for its end, or has another order paid. */
  function isClosing({ commanded }: OrderState): boolean {
    return scope.commands.some((one, index) => (one === 'release' || one === 'supersede') && (commanded & (1 << index)) !== 0)
  }

  function exceptionOf(status: string, state: OrderState): string | null {
    const [{ books }, truth] = [state, truthIn(state)]
    if (status === 'paid') {
      if (books.order.supersededAt !== null || truth.sum - truth.completed >= REQUIRED) return 'duplicate'
      return truth.sum > ASKED + 1 ? 'overpaid' : null
    }
    if (status === 'cancelled') return truth.sum > 0 ? 'paid_after_cancel' : null
    return truth.sum >= REQUIRED ? 'paid_late' : null
  }
}

const COMMANDS: Record<Command, string> = {
  accept: 'the merchant accepts what came',
  attach: 'the merchant counts what came for no order',
  cancel: 'the merchant cancels',
  supersede: 'another order of its period is paid',
  release: 'its plan ends',
}

/** Walks every history of a scope; a fault is named with the history in which its path is. */
export function walkOrders(histories: Iterable<History>, scope: OrderScope, total: Walk, rules?: OrderRules, stopsAtFault = false): number {
  let count = 0
  for (const history of histories) {
    count++
    const walk = explore(orderModel(history, scope, rules), { stopsAtFault })
    total.states += walk.states
    total.transitions += walk.transitions
    total.isComplete &&= walk.isComplete
    for (const [fault, violation] of walk.violations) {
      const path = [`given: ${tell(history)}`, ...violation.path]
      const known = total.violations.get(fault)
      const isShorter = !known || path.length < known.path.length
      total.violations.set(fault, { count: (known?.count ?? 0) + violation.count, path: isShorter ? path : known.path })
    }
    if (stopsAtFault && total.violations.size > 0) break
  }
  return count
}

const chainName = (chainId: number) => (chainId === SECOND ? 'the second chain' : 'the chain')

const tell = ({ payments, watchedAfter, putBack, isDense, second }: History): string =>
  [
    `an order of 1.00 that ends with block ${EXPIRES}, watched after block ${watchedAfter}`,
    ...payments.map(
      ({ cents, kind, block, fate, isStray, isOnSecond }, index) =>
        `payment ${index + 1} of ${cents} cents by ${kind} in ${isOnSecond ? 'second ' : ''}block ${block}${isStray ? ', of no order' : ''}: ${fate}`,
    ),
    ...(second ? [`a second network is ${second}`] : []),
    ...(isDense ? [`blocks ${EXPIRES + 1} to ${EXPIRES + 3} have the time of block ${EXPIRES}`] : []),
    ...(putBack ? [`the listener is put back after block ${putBack.at} to block ${putBack.to}, unnoticed for ${putBack.unnoticed}`] : []),
  ].join('; ')

function describe(blocks: ReturnType<typeof played>['events'][number] | undefined): string {
  if (!blocks) return ''
  const { chain_id, generation, version, advanced, payments, gone, watched } = blocks
  return [
    `${chain_id === SECOND ? 'second ' : ''}${generation.slice(-1)}.${version}`,
    ...payments.map(({ tx_hash, block_hash, is_confirmed }) => `${tx_hash} in ${block_hash} ${is_confirmed ? 'confirmed' : 'seen'}`),
    ...gone.map(hash => `${hash} is gone`),
    ...(advanced ? [`blocks ${advanced.from} to ${advanced.to} confirmed`] : []),
    ...watched.map(({ through }) => `watched through ${through}`),
  ].join(', ')
}

interface Truth {
  sum: number
  inTime: number
  /** The sum up to the end of the block that completed it. */
  completed: number
  /** The payment with which that is reached. */
  completing: string | null
  isShallow: boolean
}

/** Money that the chains hold in the end, counted by itself: in the order of block times, those of one second by chain, block and log. */
function truthOf(standing: readonly Standing[]): Truth {
  const stands = standing
    .flatMap(({ cents, block, second, chainId }, index) =>
      block === null ? [] : [{ cents, at: [second ?? 0, chainId, block, index], index }],
    )
    .sort((a, b) => a.at.map((each, place) => each - (b.at[place] ?? 0)).find(distance => distance !== 0) ?? 0)
  const sumTo = (end: number) => stands.slice(0, end + 1).reduce((sum, { cents }) => sum + cents, 0)
  const completing = stands.findIndex((_, index) => sumTo(index) >= REQUIRED)
  const blockOf = (index: number) => stands[index]?.at.slice(1, 3).join()
  const endOfBlock = stands.findLastIndex((_, index) => blockOf(index) === blockOf(completing))
  return {
    sum: sumTo(stands.length),
    inTime: standing.reduce((sum, { cents, isInTime }) => (isInTime ? sum + cents : sum), 0),
    completed: completing < 0 ? 0 : sumTo(endOfBlock),
    completing: completing < 0 ? null : `transaction ${(stands[completing]?.index ?? 0) + 1}`,
    isShallow: standing.every(one => one.isShallow),
  }
}

const sumOf = ({ payments }: Books, statuses: readonly string[]): bigint =>
  payments.reduce((sum, { status, grossUnits }) => (statuses.includes(status) ? sum + grossUnits : sum), 0n)

const isConfirming = (books: Books): boolean =>
  sumOf(books, ['detected', 'confirmed']) >= BigInt(REQUIRED) * CENT && sumOf(books, ['confirmed']) < BigInt(REQUIRED) * CENT

const standsOf = (standing: readonly Standing[], txHash: string | null): boolean =>
  standing.some(({ block }, index) => block !== null && txHash === `transaction ${index + 1}`)

const txHashIn = (data: { order?: { tx_hash?: string | null } | null }): string | null => data.order?.tx_hash ?? null

const bits = (mask: number): number => (mask === 0 ? 0 : 1 + bits(mask & (mask - 1)))

function attempt(work: () => Outcome): Outcome | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && error.name === 'ApiError') return null
    throw error
  }
}

const keys = new WeakMap<Books, string>()

/** Two states with one key differ in nothing that a rule looks at: the version of the order and the times of notices are no part. */
function keyOf({ books, read, parked, commanded, paid, expired, cancelled, accepted, attached, notified, fault }: OrderState): string {
  return `${read},${parked},${commanded},${paid}${expired}${cancelled},${accepted},${attached},${notified},${fault ?? ''}|${keyOfBooks(books)}`
}

function keyOfBooks(books: Books): string {
  const known = keys.get(books)
  if (known !== undefined) return known
  const { order: one, payments, strays } = books
  const isSet = (value: unknown) => (value === null ? 0 : 1)
  const keysOf = (all: readonly orderRules.Payment[]) =>
    all
      .map(({ id, status, generation, version }) => `${id} ${status} ${generationOf(generation)}${version}`)
      .sort()
      .join()
  const key = [
    `${one.status} ${one.exception} ${one.txHash} ${isSet(one.paidAt)}${isSet(one.expiredAt)}${isSet(one.supersededAt)}${isSet(one.withdrawnAt)}${isSet(one.settledAt)}${isSet(one.acceptedAt)} ${one.acceptedUnits}`,
    `${one.confirmedUnits} ${one.seenUnits} ${one.completedUnits} ${one.completingTxHash} ${one.lastTxHash} ${one.completingBlock} ${one.lastBlock} ${one.lastIndex}`,
    keysOf(payments),
    keysOf(strays),
    ...books.chains.map(keyOfChain),
    [...books.parked].sort().join(),
  ].join('|')
  keys.set(books, key)
  return key
}

const generationOf = (name: string | null) => name?.slice(-1) ?? '-'

function keyOfChain({ generation, since, ranges, gone, watched, view, leases }: ChainBooks): string {
  return [
    `${generationOf(generation)} ${since} ${ranges.join(';')}`,
    [...gone]
      .map(([hash, by]) => `${hash}${generationOf(by.generation)}${by.version}`)
      .sort()
      .join(),
    watched === null ? '' : `${generationOf(watched.generation)}${watched.version} ${watched.through}`,
    `${view.time?.getTime()} ${generationOf(view.generation ?? null)}`,
    leases
      .map(({ lease, seenVersion, endedVersion }) => `${lease}${seenVersion}${endedVersion}`)
      .sort()
      .join(),
  ].join('|')
}
