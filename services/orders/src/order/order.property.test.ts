import { CENT, merchantShare, OPT_IN_EVENTS, parseUsdc } from '@ponte/contracts'
import fc from 'fast-check'
import { confirmedTimeOf } from '../chain/history'
import { changesOf } from '../payment/blocks'
import { type Payment, withPayments } from '../payment/payment'
import { dueUnits } from './body'
import { open } from './new-order'
import { type Change, type Order, receivedUnits, review, withdraw } from './order'
import { receivePayments } from './progress'
import { tallyOf } from './tally'
import { type ChainView, requiredUnits } from './verdict'

const CASES = Number(process.env.PONTE_PROPERTY_CASES ?? 500)
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000)

const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 1, display_name: 'Padaria', payout_address: '0x01' }
const opened = (centavos: bigint, feeBps: bigint, expiresAt: Date, depositAddress: string | null = null): Order => ({
  ...open(
    {
      ...{ id: '01981f3c-0000-7000-8000-000000000002', memo: 'ab'.repeat(32), terms, subscriptionId: null, externalRef: null },
      ...{ description: null, metadata: {}, brlCentavos: centavos, expiresAt },
    },
    { rateMicros: 5_420_000n, source: 'static', asOf: at(0), spreadBps: 0 },
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', feeBps, tolerance: { defaultUnits: CENT, maxUnits: 5_000_000n } },
    at(0),
  ),
  depositAddress,
})

/** A step of the listener's scan about one order: what it reports of its payments, and the range that it confirms. */
interface Step {
  version: number
  payments: Payment[]
  gone: string[]
  advanced: { from: bigint; to: bigint; time: Date } | null
  /** All payments of the order up to this block are in this step. */
  through: bigint | null
}

interface Plan {
  /** Per payment: when it is mined, its gross in percent of what is asked, whether it goes to the address, and what the chain does to it. */
  payments: {
    second: number
    percent: number
    transfer: boolean
    fate: 'stays' | 'gone' | 'mined again' | 'taken back' | 'taken back and mined again'
  }[]
  /** Dust of strangers, in units. */
  dust: { second: number; units: bigint }[]
  expires: number
  /** When the listener begins to read the address in every block. */
  synced: number
}

const plans: fc.Arbitrary<Plan> = fc.record({
  payments: fc.array(
    fc.record({
      second: fc.integer({ min: 1, max: 200 }),
      percent: fc.constantFrom(1, 30, 50, 70, 99, 100, 130),
      transfer: fc.boolean(),
      fate: fc.constantFrom('stays', 'stays', 'stays', 'gone', 'mined again', 'taken back', 'taken back and mined again'),
    }),
    { maxLength: 5 },
  ),
  dust: fc.array(fc.record({ second: fc.integer({ min: 1, max: 400 }), units: fc.bigInt({ min: 1n, max: 3n }) }), { maxLength: 3 }),
  expires: fc.integer({ min: 10, max: 200 }),
  synced: fc.integer({ min: 0, max: 400 }),
})

const DEPTH = 5
const END = 1000
const GENERATION = '01900000-0000-7000-8000-000000000001'

/** Where a payment stands from when to when, and in which block. */
interface Stay {
  id: string
  block: number
  from: number
  to: number
  grossUnits: bigint
  transfer: boolean
}

/** Where the payments of a plan stand, block by block; a payment that is mined again is another. */
function staysOf(plan: Plan, asked: bigint): Stay[] {
  const stay = (id: string, block: number, from: number, to: number, grossUnits: bigint, transfer: boolean): Stay => ({
    id,
    block,
    from,
    to,
    grossUnits,
    transfer,
  })
  const dust = plan.dust.map(({ second, units }, index) => stay(`d${index}`, second, second, Infinity, units, true))
  const paid = plan.payments.flatMap(({ second, percent, transfer, fate }, index) => {
    const units = (asked * BigInt(percent) + 99n) / 100n
    const [id, again] = [`p${index}`, `p${index}'`]
    if (fate === 'stays') return [stay(id, second, second, Infinity, units, transfer)]
    const isDeep = fate.startsWith('taken back')
    const end = isDeep ? second + DEPTH + 4 : second + 2
    const first = stay(id, second, second, end, units, transfer)
    const isBack = fate === 'mined again' || fate === 'taken back and mined again'
    return isBack ? [first, stay(again, end + 1, end + 1, Infinity, units, transfer)] : [first]
  })
  return [...paid, ...dust]
}

/** Plays a plan on a chain with a block a second that confirms after five: the steps of a listener that begins to watch at some second. */
function played(plan: Plan, asked: bigint): Step[] {
  const stays = staysOf(plan, asked)
  const toPayment = ({ id, block, grossUnits, transfer }: Stay, version: number, status: Payment['status']): Payment => ({
    ...{ id, kind: transfer ? 'transfer' : 'router', status, grossUnits, payerAddress: '0x09', depositAddress: transfer ? '0x04' : null },
    ...{
      txHash: `0x${id}`,
      blockNumber: BigInt(block),
      blockTime: at(block),
      logIndex: Number.parseInt(id.slice(1), 10),
      blockHash: `0xb${id}`,
    },
    ...{ generation: GENERATION, version },
  })
  const steps: Step[] = []
  const moments = [plan.synced, ...stays.flatMap(each => [each.from, each.to, each.block + DEPTH])]
  // Blocks in which nothing happens are confirmed with the next in which something does.
  for (const now of [...new Set([1, ...moments, END])].filter(each => each >= 1 && each <= END).sort((a, b) => a - b)) {
    const version = steps.length + 1
    const isRead = ({ transfer }: Stay) => !transfer || now >= plan.synced
    const standing = stays.filter(each => isRead(each) && each.from <= now && now < each.to)
    const confirmed = now < END ? now - DEPTH : END
    const before = steps.findLast(({ advanced }) => advanced)?.advanced?.to ?? -1n
    const synced = Math.max(1, plan.synced)
    const isNew = (each: Stay) => each.from === now || now === synced
    const becomes = (each: Stay) => each.block <= confirmed && (BigInt(each.block) > before || now === synced || each.from === now)
    const reported = standing.filter(each => isNew(each) || becomes(each))
    steps.push({
      version,
      payments: reported.map(each => toPayment(each, version, each.block <= confirmed ? 'confirmed' : 'detected')),
      gone: stays.filter(each => each.to === now).map(({ id }) => `0xb${id}`),
      advanced: BigInt(confirmed) > before ? { from: before + 1n, to: BigInt(confirmed), time: at(confirmed) } : null,
      through: now === synced ? BigInt(now) : null,
    })
  }
  return steps.filter(({ payments, gone, advanced, through }) => payments.length > 0 || gone.length > 0 || advanced || through !== null)
}

/** Takes the steps in, in this order of arrival, as the service does. */
function taken(order: Order, arrivals: readonly Step[], cancelAfter: number | null) {
  let payments: Payment[] = []
  let isWatched = false
  const ranges: [number, number][] = []
  const advances: { toBlock: number; time: Date }[] = []
  const gone = new Map<string, { generation: string; version: number }>()
  const published: string[] = []
  const view = (): ChainView => {
    const merged = ranges
      .toSorted(([a], [b]) => a - b)
      .reduce<[number, number][]>((all, [from, to]) => {
        const last = all.at(-1)
        if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
        else all.push([from, to])
        return all
      }, [])
    return { time: confirmedTimeOf({ since: 0, ranges: merged, advances, leases: [], confirmedTime: null }, at(END)) }
  }
  const take = (change: Change) => {
    order = { ...change.order, version: order.version + 1 }
    published.push(...change.events.map(event => event.type))
  }
  arrivals.forEach((step, index) => {
    const stated = {
      ...{ generation: GENERATION, version: step.version, advanced: step.advanced, gone: new Set(step.gone) },
      goneAt: (hash: string) => gone.get(hash),
      isConfirmed: (block: bigint) => ranges.some(([from, to]) => from <= block && block <= to),
    }
    const changed = changesOf(payments, step.payments, stated, { isWatched: isWatched || step.through !== null, through: step.through })
    const known = payments.filter(({ id }) => changed.some(other => other.id === id))
    const some = receivePayments({ order, isWatched, payments: known, isAll: false }, changed, view(), at(5000))
    const change = some ?? receivePayments({ order, isWatched, payments, isAll: true }, changed, view(), at(5000))
    if (change && changed.length > 0) take(change)
    payments = withPayments(payments, changed)
    if (step.through !== null) isWatched = true
    if (step.advanced) {
      ranges.push([Number(step.advanced.from), Number(step.advanced.to)])
      advances.push({ toBlock: Number(step.advanced.to), time: step.advanced.time })
    }
    for (const hash of step.gone) {
      const known = gone.get(hash)
      if (!known || known.version < step.version) gone.set(hash, { generation: GENERATION, version: step.version })
    }
    take(review({ order, isWatched }, view(), at(5000)))
    if (index === cancelAfter) order = withdraw(order, at(4000))?.order ?? order
  })
  return { order, payments, published }
}

const shuffles = (length: number) => fc.array(fc.nat(), { minLength: length * 2, maxLength: length * 2 })
/** Everything at least once, half of it twice, in an order that the keys decide. */
function shuffled(reports: readonly Step[], keys: readonly number[]): Step[] {
  const twice = [...reports, ...reports.filter((_, index) => (keys[index] ?? 0) % 2 === 0)]
  return twice
    .map((item, index) => ({ item, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

const stories = fc
  .record({ plan: plans, centavos: fc.bigInt({ min: 1n, max: 10n ** 9n }), feeBps: fc.bigInt({ min: 0n, max: 1000n }) })
  .chain(story => {
    const order = opened(story.centavos, story.feeBps, at(story.plan.expires), '0x04')
    const reports = played(story.plan, order.usdcUnits)
    return fc.record({
      plan: fc.constant(story.plan),
      order: fc.constant(order),
      reports: fc.constant(reports),
      first: shuffles(reports.length),
      second: shuffles(reports.length),
      cancelAfter: fc.nat({ max: reports.length * 2 }),
    })
  })

/** The final ledger worked out in another way: by walking over the confirmed payments block by block. */
function outcome(order: Order, payments: readonly Payment[]): string {
  let total = 0n
  const confirmed = payments
    .filter(payment => payment.status === 'confirmed')
    .sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex)
  for (const payment of confirmed) {
    total += payment.grossUnits
    if (total >= order.usdcUnits - order.toleranceUnits) return payment.blockTime <= order.expiresAt ? 'paid' : 'expired'
  }
  return 'expired'
}

const tellsDeep = (plan: Plan) => plan.payments.some(({ fate }) => fate.startsWith('taken back'))
const count = (published: readonly string[], type: string) => published.filter(each => each === type).length

function checked(name: string, property: fc.IProperty<unknown>) {
  it(name, () => {
    const result = fc.check(property, { numRuns: CASES })
    if (result.failed) throw new Error(fc.defaultReportMessage(result))
    process.stdout.write(`${result.numRuns} cases: ${name}\n`)
  })
}

describe('an order, whatever arrives in whatever order', () => {
  checked(
    'any arrival order, duplicates and reorgs of the same facts end in the same state',
    fc.property(stories, ({ order, reports, first, second, plan }) => {
      const inOrder = taken(order, reports, null)
      for (const arrivals of [shuffled(reports, first), shuffled(reports, second)]) {
        const mixed = taken(order, arrivals, null)
        const end = ({ order: { status, confirmedUnits, exception } }: typeof mixed) =>
          // Whether the merchant had been notified of `paid` before a deep reorg depends on what came first; the rest does not.
          tellsDeep(plan) ? { status, confirmedUnits } : { status, confirmedUnits, exception }
        expect(end(mixed)).toEqual(end(inOrder))
      }
      expect(inOrder.order.status).toBe(outcome(order, inOrder.payments))
    }),
  )

  checked(
    'invariant 3: at most one order.paid and at most one order.expired',
    fc.property(stories, ({ order, reports, first, cancelAfter }) => {
      for (const each of [null, cancelAfter]) {
        const { published, order: end } = taken(order, shuffled(reports, first), each)
        expect(count(published, 'order.paid')).toBe(end.paidAt === null ? 0 : 1)
        expect(count(published, 'order.expired')).toBeLessThanOrEqual(1)
        if (end.cancelledAt !== null) expect(end.status).toBe('cancelled')
      }
    }),
  )

  checked(
    'invariant 4: an order paid in time never expires on the way, however the news arrives',
    fc.property(stories, ({ order, reports, first, plan }) => {
      fc.pre(!tellsDeep(plan))
      const { published, order: end, payments } = taken(order, shuffled(reports, first), null)
      if (outcome(order, payments) !== 'paid') return
      expect([end.status, count(published, 'order.expired'), count(published, 'order.paid')]).toEqual(['paid', 0, 1])
    }),
  )

  checked(
    'fee + expected = gross, and received is the merchant’s share of what was confirmed',
    fc.property(stories, ({ order, reports, first }) => {
      expect(order.feeUnits + order.expectedUnits).toBe(order.usdcUnits)
      const { order: end, payments } = taken(order, shuffled(reports, first), null)
      const confirmed = payments.filter(payment => payment.status === 'confirmed')
      const gross = confirmed.reduce((sum, payment) => sum + payment.grossUnits, 0n)
      expect([end.confirmedUnits, receivedUnits(end)]).toEqual([gross, merchantShare(gross, order.feeBps)])
      // Kept with the order payment by payment, it is what all of them come to.
      expect(end).toEqual({ ...end, ...tallyOf(payments, requiredUnits(order)) })
    }),
  )

  checked(
    'nothing is open once the chain has passed it',
    fc.property(stories, ({ order, reports, first }) => {
      expect(['paid', 'expired']).toContain(taken(order, shuffled(reports, first), null).order.status)
    }),
  )

  checked(
    'dust in sum below a cent changes neither the end nor what is notified',
    fc.property(stories, ({ order, plan }) => {
      fc.pre(order.usdcUnits > 100n * CENT)
      // The same steps in the order of the chain, once without what they report of dust: what is confirmed together may be notified together.
      const steps = played(plan, order.usdcUnits)
      const bare = steps.map(step => ({ ...step, payments: step.payments.filter(({ id }) => !id.startsWith('d')) }))
      const end = (each: Step[]) => {
        const { order: last, published } = taken(order, each, null)
        return [last.status, last.exception, published.filter(type => !OPT_IN_EVENTS.some(each => each === type))]
      }
      expect(end(steps)).toEqual(end(bare))
    }),
  )

  checked(
    'paying what is due always completes the order, and a cent less does not',
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.bigInt({ min: 0n, max: 1000n }),
      fc.integer({ min: 0, max: 98 }),
      (centavos, feeBps, percent) => {
        const before = opened(centavos, feeBps, at(100))
        const gross = (before.usdcUnits * BigInt(percent)) / 100n
        const paid = (id: string, grossUnits: bigint): Payment => ({
          ...{ id, kind: 'router', status: 'confirmed', grossUnits, payerAddress: '0x09', depositAddress: null, txHash: `0x${id}` },
          ...{ blockNumber: 1n, blockTime: at(50), logIndex: id.charCodeAt(0), blockHash: '0xb', generation: null, version: 1 },
        })
        const pay = (order: Order, ...payments: Payment[]): Order =>
          receivePayments({ order, isWatched: true, payments: [], isAll: false }, payments, { time: null }, at(60))?.order ?? order
        const order = gross > 0n ? pay(before, paid('a', gross)) : before
        const due = dueUnits(order)
        const complete = (units: bigint) => pay(order, paid('b', units))
        expect(complete(due)).toMatchObject({ status: 'paid', exception: null })
        const least = due - order.toleranceUnits
        expect(complete(least).status).toBe('paid')
        if (least > 1n) expect(complete(least - 1n).status).not.toBe('paid')
      },
    ),
  )
})

it('nothing is due while enough is on its way', () => {
  const order = opened(15_000n, 100n, at(100))
  const coming = parseUsdc('10.000000')
  expect(dueUnits(order)).toBe(order.usdcUnits)
  expect(dueUnits({ ...order, seenUnits: coming })).toBe(order.usdcUnits - coming)
  expect(dueUnits({ ...order, status: 'confirming' })).toBe(0n)
})
