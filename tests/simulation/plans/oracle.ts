import { type Calendar, calendarOf } from './calendar'
import type { OpenedOrder } from './orders-in-memory'
import type { createWorld } from './world'
import { HOUR } from './world'

type World = ReturnType<typeof createWorld>

/**
 * Judges the end of a story by what was asked, opened, paid and commanded, with a calendar of its own. It asks no rule of the services.
 */
export function differences(world: World): string[] {
  const plan = world.plan()
  const found: string[] = []
  const { beginOf } = calendar(world)
  const orders = [...world.orders.orders]
  const periodOf = new Map(world.requests.map(({ orderId, period }) => [orderId, period]))
  const live = isLive(world)

  // No order outlives its period, and none is opened for a period that is over: nothing is billed afterwards.
  for (const [id, { ledger, openedAt, knownAddress }] of orders) {
    const period = periodOf.get(id)
    if (period === undefined) {
      found.push(`order ${id} was asked for by no one`)
      continue
    }
    const end = beginOf(period + 1)
    if (period < world.opened.trialPeriods) found.push(`order ${id} asks for money in period ${period}, which belongs to the trial`)
    if (world.opened.schedule && (openedAt < beginOf(period) || openedAt >= end))
      found.push(`order ${id} of period ${period} was opened outside of it`)
    if (world.opened.schedule && ledger.order.expiresAt.getTime() > end) found.push(`order ${id} is payable beyond period ${period}`)
    if (knownAddress !== null && ledger.order.merchantAddress !== knownAddress)
      found.push(`order ${id} is paid to an address that was taken away`)
    if (knownAddress === null) found.push(`order ${id} was opened while the merchant had no address`)
  }
  // At the end everything was delivered, so what is still open is of the current period of a live plan, or holds money.
  for (const [id, { ledger }] of orders) {
    const { status } = ledger.order
    if (status !== 'pending') continue
    const period = periodOf.get(id) ?? -1
    if (!live) found.push(`order ${id} is open, but its plan is ${plan.status}`)
    if (world.opened.schedule && world.now() > beginOf(period + 1) + HOUR) found.push(`order ${id} of period ${period} is still open`)
  }
  // Each period counts once, whatever was paid; what is paid besides is a duplicate.
  const charged = world.facts.flatMap(({ fact }) => (fact.kind === 'charged' ? [periodOf.get(fact.order.id) ?? -1] : []))
  if (new Set(charged).size !== charged.length) found.push(`a period was counted twice: ${charged}`)
  if (plan.chargesDone !== charged.length) found.push(`${plan.chargesDone} charges are counted, ${charged.length} were published`)
  const paid = orders.filter(([, { ledger }]) => ledger.order.paidAt !== null).map(([id]) => id)
  const named = new Set(
    world.facts.flatMap(({ fact }) => (fact.kind === 'charged' ? [fact.order.id] : fact.kind === 'duplicate' ? [fact.orderId] : [])),
  )
  for (const id of paid) if (!named.has(id)) found.push(`order ${id} was paid and is neither charged nor a duplicate`)
  const settledPeriods = new Map<number, number>()
  for (const id of paid) settledPeriods.set(periodOf.get(id) ?? -1, (settledPeriods.get(periodOf.get(id) ?? -1) ?? 0) + 1)
  for (const [period, count] of settledPeriods) {
    const duplicates = world.facts.filter(({ fact }) => fact.kind === 'duplicate' && periodOf.get(fact.orderId) === period).length
    if (count - duplicates > 1) found.push(`period ${period} has ${count} paid orders and ${duplicates} duplicates`)
  }
  // Earlier payments were not asked for again.
  for (const { orderId, period, centavos, amount, receivedThen } of world.requests)
    if (centavos > amount - receivedThen)
      found.push(`order ${orderId} of period ${period} asks for ${centavos} of ${amount}, though ${receivedThen} had come`)
  // Nothing is asked for at or after the end that was planned then, and each charge is announced once.
  for (const { orderId, at } of world.requests) {
    // An amendment of the same moment may have come before it, or after it.
    const end = Math.max(plannedEnd(world, at - 1), plannedEnd(world, at))
    if (at >= end) found.push(`order ${orderId} was asked for at ${at}, after the end at ${end}`)
  }
  const announced = world.facts.flatMap(({ fact }) => (fact.kind === 'upcoming' ? [fact.periodIndex] : []))
  if (new Set(announced).size !== announced.length) found.push(`a charge was announced twice: ${announced}`)
  // Every end is reached, once, and by nothing else.
  const ends = world.facts.filter(({ fact }) => fact.kind === 'cancelled' || fact.kind === 'expired').length
  if (ends !== (live ? 0 : 1)) found.push(`the plan is ${plan.status} and ended ${ends} times`)
  if (live && plan.maxPeriods !== null && plan.chargesDone >= plan.maxPeriods) found.push('max_periods was reached without an end')
  const isOpen = orders.some(([, { ledger }]) => ['pending', 'confirming', 'underpaid'].includes(ledger.order.status))
  if (live && world.now() >= plannedEnd(world, world.now()) && !isOpen) found.push('the planned end was reached, and nothing ended')
  if (live && !isOpen && world.opened.schedule) found.push(...stuck(world))
  found.push(...endedForWantOfPayment(world), ...askedThoughUnpaid(world))
  return found
}

const isPayable = ({ ledger }: OpenedOrder) => ledger.order.status === 'pending'

/** A fault of this moment: two orders of one period can be paid. */
export function openTwice(world: World): string[] {
  const open = world.orders.open().map(id => world.periodOf(id))
  return open.filter((period, index) => open.indexOf(period) !== index).map(period => `period ${period} has two orders that can be paid`)
}

/** A fault of this moment: orders knows of the plan's end, and an order that holds no money is still payable. */
export function openAfterEnd(world: World): string[] {
  if (isLive(world) || !world.ordersKnowsAll()) return []
  return [...world.orders.orders]
    .filter(([, order]) => isPayable(order))
    .map(([id]) => `order ${id} is payable, though its plan is ${world.plan().status}`)
}

const isLive = (world: World) => ['active', 'past_due'].includes(world.plan().status)

/** A live plan without an open order has a reason that a merchant can see. */
function stuck(world: World): string[] {
  const plan = world.plan()
  const { beginOf, periodAt } = calendar(world)
  const period = periodAt(world.now())
  const end = plannedEnd(world, world.now())
  if (plan.periodIndex !== period && end > world.now()) return [`period ${period} has not begun, the plan is in ${plan.periodIndex}`]
  const asked = world.requests.filter(request => request.period === period)
  const isPaid = world.facts.some(({ fact }) => fact.kind === 'charged' && asked.some(({ orderId }) => orderId === fact.order.id))
  const leftMs = Math.min(beginOf(period + 1), end) - world.now()
  if (isPaid || period < world.opened.trialPeriods || plan.pausedAt !== null || leftMs < 300_000 + 10 * 60_000) return []
  if (asked.length > 0) return wasReplaced(world, asked) ? [`the order of period ${period} was replaced, and none followed`] : []
  return [`nothing was asked for period ${period}, and nothing gives the reason`]
}

/** The newest order of the period gave way to new terms, no money came, and another can be asked for. */
function wasReplaced({ facts, orders }: World, asked: World['requests']): boolean {
  const newest = asked.at(-1)?.orderId ?? ''
  const order = orders.orders.get(newest)?.ledger
  const isGone = order ? order.order.status === 'cancelled' : orders.outcomes.get(newest) === 'withdrawn'
  const hasMoney = asked.some(({ orderId }) => (orders.orders.get(orderId)?.ledger.payments.length ?? 0) > 0)
  return isGone && !hasMoney && facts.some(({ fact }) => fact.kind === 'superseded' && fact.isReplaced === true && fact.orderId === newest)
}

/** The earliest of the ends that the merchant had planned at a time; Infinity for none. */
function plannedEnd(world: World, at: number): number {
  const { opened, amendments } = world
  const { beginOf } = calendar(world, at)
  let { maxPeriods, expiresAt } = opened
  let cancelAt: number | null = null
  for (const { at: since, amendment } of amendments) {
    if (since > at) break
    if (amendment.maxPeriods !== undefined) maxPeriods = amendment.maxPeriods
    if (amendment.expiresAt !== undefined) expiresAt = amendment.expiresAt
    if (amendment.cancelAtPeriodEnd === undefined) continue
    const then = calendar(world, since)
    cancelAt = amendment.cancelAtPeriodEnd ? (cancelAt ?? then.beginOf(then.periodAt(since) + 1)) : null
  }
  const lastPeriod = opened.maxPeriodsCounts === 'periods' ? maxPeriods : null
  const periodsEnd = lastPeriod === null ? null : beginOf(opened.trialPeriods + lastPeriod)
  return Math.min(...[expiresAt?.getTime(), cancelAt, periodsEnd].map(end => end ?? Number.POSITIVE_INFINITY))
}

/** The calendar as the merchant had made it at a time, by default now. */
function calendar({ opened, amendments }: World, at = Number.POSITIVE_INFINITY): Calendar {
  return calendarOf(
    opened.schedule,
    amendments.filter(({ at: since }) => since <= at),
  )
}

type Dunning = World['opened']['dunning']

/** As the merchant had set it with the first so many amendments, by default with all. */
const dunningOf = ({ opened, amendments }: World, amended = amendments.length): Dunning =>
  amendments.slice(0, amended).findLast(({ amendment }) => amendment.dunning !== undefined)?.amendment.dunning ?? opened.dunning

/**
 * Want of payment ends or pauses a plan as its merchant wishes then, after as many periods, and a payer in time keeps it: none of these periods is paid, then or
 * later.
 */
function endedForWantOfPayment(world: World): string[] {
  if (world.opened.schedule === null) return []
  const { periodAt } = calendar(world)
  const wantOfPayment = world.facts.filter(({ fact, at, byMerchant }) => {
    if (byMerchant || (fact.kind !== 'cancelled' && fact.kind !== 'paused')) return false
    return fact.kind === 'paused' || plannedEnd(world, at) > at
  })
  const judge = (what: string, at: number, max: number) => {
    const over = world.requests.filter(request => request.at <= at && request.period < periodAt(at)).map(({ period }) => period)
    const newest = [...new Set(over)].sort((a, b) => b - a).slice(0, max)
    // An accepted order was paid by no payer in time.
    const isPaid = (orderId: string) => {
      const order = world.orders.orders.get(orderId)?.ledger.order
      return order !== undefined && order.paidAt !== null && order.acceptedAt === null
    }
    const paid = world.requests.filter(({ orderId, period }) => newest.includes(period) && isPaid(orderId))
    return [
      ...(newest.length < max ? [`the plan is ${what} after ${newest.length} periods that were asked for, not ${max}`] : []),
      ...paid.map(({ orderId, period }) => `the plan is ${what} for want of payment, though order ${orderId} of period ${period} is paid`),
    ]
  }
  const acts = wantOfPayment.flatMap(({ at, fact, amended }) => {
    const { unpaidPeriodsMax, whenUnpaid } = dunningOf(world, amended)
    const isWished = fact.kind === (whenUnpaid === 'cancel' ? 'cancelled' : 'paused') && whenUnpaid !== 'leave'
    return [
      ...(isWished ? [] : [`the plan is ${fact.kind}, though its merchant chose ${whenUnpaid}`]),
      ...judge(fact.kind, at, unpaidPeriodsMax),
    ]
  })
  // A plan that its merchant ended is judged no more.
  const isLeftPaused = world.plan().pauseReason === 'unpaid' && isLive(world)
  return isLeftPaused ? [...acts, ...judge('paused', world.now(), dunningOf(world).unpaidPeriodsMax)] : acts
}

/** Nothing is asked for by itself after as many unpaid periods as end or pause the plan. Only periods for which nothing came at all are counted. */
function askedThoughUnpaid(world: World): string[] {
  const { requests, facts, orders, amendments } = world
  const unpaid = new Set(
    requests.flatMap(({ period }) => {
      const ledgers = requests.flatMap(each => (each.period === period ? (orders.orders.get(each.orderId)?.ledger ?? []) : []))
      const isAsked = ledgers.some(({ order }) => order.status === 'expired') && ledgers.every(({ payments }) => payments.length === 0)
      return isAsked ? period : []
    }),
  )
  const charged = facts.flatMap(({ fact }) => (fact.kind === 'charged' ? (world.periodOf(fact.order.id) ?? []) : []))
  return requests.flatMap(({ orderId, period, at, byMerchant, amended }) => {
    const { unpaidPeriodsMax, whenUnpaid } = dunningOf(world, amended)
    if (byMerchant || whenUnpaid === 'leave') return []
    const forgiven = amendments
      .slice(0, amended)
      .flatMap(each => (each.amendment.paused === false ? calendar(world, each.at).periodAt(each.at) - 1 : []))
    const begin = Math.max(-1, ...charged, ...forgiven) + 1
    const before = [...unpaid].filter(each => each >= begin && each < period)
    if (before.length < unpaidPeriodsMax) return []
    return [
      `order ${orderId} of period ${period} was asked for at ${at}, though periods ${before} are unpaid and its merchant chose ${whenUnpaid}`,
    ]
  })
}
