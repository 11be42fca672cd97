import { CENT, merchantShare, OPT_IN_EVENTS, parseUsdc } from '@ponte/contracts'
import fc from 'fast-check'
import { type Payment, withPayment } from '../payment'
import { dueUnits } from './body'
import { open } from './new-order'
import { type Order, receivedUnits, review, withdraw } from './order'
import type { ChainView } from './verdict'

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
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', feeBps, toleranceLimit: CENT },
    at(0),
  ),
  depositAddress,
})

/** What the listener reports, in the order of its sequence; `advance` is how much of it came before a confirmed time. */
type Report = { sequence: number; payment?: Payment; synced?: true } | { advance: number; time: Date }

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

/** Plays a plan on a chain that confirms after five seconds: the reports of a listener, gapless, with an advance before and after each. */
function played(plan: Plan, asked: bigint): Report[] {
  const reports: { second: number; payment?: Payment }[] = []
  const mine = (id: string, grossUnits: bigint, transfer: boolean, second: number, fate: Plan['payments'][number]['fate']) => {
    let revision = 0
    const report = (when: number, status: Payment['status'], mined: number) =>
      reports.push({
        // Before the address is read in every block, what came to it is reported with that step.
        second: transfer ? Math.max(when, plan.synced) : when,
        payment: {
          id,
          kind: transfer ? 'transfer' : 'router',
          revision: ++revision,
          status,
          grossUnits,
          payerAddress: '0x09',
          depositAddress: transfer ? '0x04' : null,
          txHash: `0x${id}`,
          blockNumber: BigInt(mined),
          blockTime: at(mined),
          logIndex: 0,
        },
      })
    report(second, 'detected', second)
    if (fate === 'gone' || fate === 'mined again') report(second + 2, 'orphaned', second)
    if (fate === 'mined again') report(second + 3, 'detected', second + 3)
    const mined = fate === 'mined again' ? second + 3 : second
    if (fate !== 'gone') report(mined + DEPTH, 'confirmed', mined)
    if (fate.startsWith('taken back')) report(mined + DEPTH + 4, 'orphaned', mined)
    if (fate === 'taken back and mined again') report(mined + DEPTH + 9, 'confirmed', mined + 9)
  }
  plan.payments.forEach(({ second, percent, transfer, fate }, index) => {
    mine(`p${index}`, (asked * BigInt(percent) + 99n) / 100n, transfer, second, fate)
  })
  for (const [index, { second, units }] of plan.dust.entries()) mine(`d${index}`, units, true, second, 'stays')
  reports.sort((a, b) => a.second - b.second)
  const syncedAt = reports.filter(({ second, payment }) => second <= plan.synced && payment).length
  reports.splice(syncedAt, 0, { second: plan.synced })
  const published: Report[] = []
  reports.forEach(({ second, payment }, index) => {
    const sequence = index + 1
    // A block that holds nothing of this order moves the time on as well.
    published.push({ advance: index, time: at(second - 1 - DEPTH) })
    published.push(payment ? { sequence, payment } : { sequence, synced: true }, { advance: sequence, time: at(second - DEPTH) })
  })
  published.push({ advance: reports.length, time: at(END) })
  return published
}

/** Reads the reports in this order of arrival as the service does: Tc is believed when all before it has come. */
function taken(order: Order, arrivals: readonly Report[], cancelAfter: number | null) {
  let payments: Payment[] = []
  let syncedSequence: number | null = null
  let chain: ChainView = { time: null, watermark: 0 }
  const known = new Set<number>()
  const advances: { sequence: number; time: Date }[] = []
  const published: string[] = []
  const look = () => {
    const change = review({ order, payments, syncedSequence }, chain, at(5000))
    order = change.order
    published.push(...change.events.map(event => event.type))
  }
  arrivals.forEach((report, index) => {
    if ('advance' in report) advances.push({ sequence: report.advance, time: report.time })
    else {
      known.add(report.sequence)
      if (report.synced) syncedSequence = report.sequence
      if (report.payment) payments = withPayment(payments, report.payment)
      look()
    }
    let { watermark, time } = chain
    while (known.has(watermark + 1)) watermark++
    for (const advance of advances) if (advance.sequence <= watermark && (time === null || advance.time > time)) time = advance.time
    chain = { watermark, time }
    look()
    if (index === cancelAfter) order = withdraw({ order, payments }, at(4000))?.order ?? order
  })
  return { order, payments, published }
}

const shuffles = (length: number) => fc.array(fc.nat(), { minLength: length * 2, maxLength: length * 2 })
/** Everything at least once, half of it twice, in an order that the keys decide. */
function shuffled(reports: readonly Report[], keys: readonly number[]): Report[] {
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

/** What the final ledger amounts to, worked out in another way: by walking over the confirmed payments block by block. */
function outcome(order: Order, payments: readonly Payment[]): string {
  let total = 0n
  const confirmed = payments.filter(payment => payment.status === 'confirmed').sort((a, b) => Number(a.blockNumber - b.blockNumber))
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
      // Two stories that differ by dust alone are published in the order of the chain: another order may notify of another sum on its way.
      const end = (each: Plan) => {
        const { order: last, published } = taken(order, played(each, order.usdcUnits), null)
        return [last.status, last.exception, published.filter(type => !OPT_IN_EVENTS.some(each => each === type))]
      }
      expect(end(plan)).toEqual(end({ ...plan, dust: [] }))
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
          id,
          kind: 'router',
          revision: 1,
          status: 'confirmed',
          grossUnits,
          payerAddress: '0x09',
          depositAddress: null,
          txHash: `0x${id}`,
          blockNumber: 1n,
          blockTime: at(50),
          logIndex: 0,
        })
        const first = gross > 0n ? [paid('a', gross)] : []
        const facts = { syncedSequence: null }
        const chain = { time: null, watermark: 0 }
        const { order } = review({ ...facts, order: before, payments: first }, chain, at(60))
        const due = dueUnits(order, first)
        const complete = (units: bigint) => review({ ...facts, order, payments: [...first, paid('b', units)] }, chain, at(60)).order
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
  const coming: Payment = {
    id: 'a',
    kind: 'transfer',
    revision: 1,
    status: 'detected',
    grossUnits: parseUsdc('10.000000'),
    payerAddress: '0x09',
    depositAddress: '0x04',
    txHash: '0xa',
    blockNumber: 1n,
    blockTime: at(50),
    logIndex: 0,
  }
  expect(dueUnits(order, [])).toBe(order.usdcUnits)
  expect(dueUnits(order, [coming])).toBe(order.usdcUnits - coming.grossUnits)
  expect(dueUnits({ ...order, confirmedUnits: parseUsdc('1.000000') })).toBe(order.usdcUnits - parseUsdc('1.000000'))
  expect(dueUnits({ ...order, status: 'confirming' }, [])).toBe(0n)
})
