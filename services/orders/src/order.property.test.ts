import { parseUsdc, splitFee } from '@ponte/contracts'
import fc from 'fast-check'
import { withPayment } from './arrival'
import { cancel, type Order, open, review } from './order'
import { dueUnits } from './order-body'
import type { Payment } from './settlement'

const CASES = Number(process.env.PONTE_PROPERTY_CASES ?? 500)
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000)

const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000001', version: 1, display_name: 'Padaria', payout_address: '0x01' }
const opened = (centavos: bigint, feeBps: bigint, expiresAt: Date): Order =>
  open(
    {
      ...{ id: '01981f3c-0000-7000-8000-000000000002', memo: 'ab'.repeat(32), terms, subscriptionId: null, externalRef: null },
      ...{ description: null, metadata: {}, brlCentavos: centavos, expiresAt },
    },
    { rateMicros: 5_420_000n, source: 'static', asOf: at(0), spreadBps: 0 },
    feeBps,
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', depositAddress: null },
    at(0),
  )

/** What the listener says, in the order of its sequence; `advance` says how much of it came before a confirmed time. */
type Said = { sequence: number; payment: Payment } | { advance: number; time: Date }

interface Plan {
  /** Per payment: when it is mined, its share in percent of what is expected, and what the chain does to it. */
  payments: { second: number; percent: number; fate: 'stays' | 'gone' | 'mined again' | 'taken back' | 'taken back and mined again' }[]
  expires: number
}

const plans: fc.Arbitrary<Plan> = fc.record({
  payments: fc.array(
    fc.record({
      second: fc.integer({ min: 1, max: 200 }),
      percent: fc.constantFrom(1, 30, 50, 70, 99, 100, 130),
      fate: fc.constantFrom('stays', 'stays', 'stays', 'gone', 'mined again', 'taken back', 'taken back and mined again'),
    }),
    { maxLength: 5 },
  ),
  expires: fc.integer({ min: 10, max: 200 }),
})

const DEPTH = 5
const END = 1000

/** Plays a plan on a chain that confirms after five seconds: what a listener would say, gapless, with an advance after each thing said. */
function played(plan: Plan, expected: bigint): Said[] {
  const said: { second: number; payment: Payment }[] = []
  plan.payments.forEach(({ second, percent, fate }, index) => {
    let revision = 0
    const say = (when: number, status: Payment['status'], mined: number) => {
      const shareUnits = (expected * BigInt(percent) + 99n) / 100n
      const payment = { id: `p${index}`, revision: ++revision, status, shareUnits, payerAddress: '0x09', txHash: `0x${index}` }
      said.push({ second: when, payment: { ...payment, blockNumber: BigInt(mined), blockTime: at(mined) } })
    }
    say(second, 'detected', second)
    if (fate === 'gone' || fate === 'mined again') say(second + 2, 'orphaned', second)
    if (fate === 'mined again') say(second + 3, 'detected', second + 3)
    const mined = fate === 'mined again' ? second + 3 : second
    if (fate !== 'gone') say(mined + DEPTH, 'confirmed', mined)
    if (fate.startsWith('taken back')) say(mined + DEPTH + 4, 'orphaned', mined)
    if (fate === 'taken back and mined again') say(mined + DEPTH + 9, 'confirmed', mined + 9)
  })
  said.sort((a, b) => a.second - b.second)
  const told: Said[] = []
  said.forEach(({ second, payment }, index) => {
    told.push({ sequence: index + 1, payment }, { advance: index + 1, time: at(second - DEPTH) })
  })
  told.push({ advance: said.length, time: at(END) })
  return told
}

/** Takes in what was said, in this order of arrival, as the service does: Tc is believed when all before it has come. */
function taken(order: Order, arrivals: readonly Said[], cancelAfter: number | null) {
  let payments: Payment[] = []
  const known = new Set<number>()
  const advances: { sequence: number; time: Date }[] = []
  const told: string[] = []
  let chainTime: Date | null = null
  const look = () => {
    const change = review(order, payments, chainTime, at(5000))
    order = change.order
    told.push(...change.events.map(event => event.type))
  }
  arrivals.forEach((said, index) => {
    if ('advance' in said) advances.push({ sequence: said.advance, time: said.time })
    else {
      known.add(said.sequence)
      payments = withPayment(payments, said.payment)
      look()
    }
    let watermark = 0
    while (known.has(watermark + 1)) watermark++
    for (const { sequence, time } of advances) if (sequence <= watermark && (chainTime === null || time > chainTime)) chainTime = time
    look()
    if (index === cancelAfter && order.status === 'pending' && payments.every(payment => payment.status === 'orphaned')) {
      const change = cancel(order, payments, at(4000))
      if (change) order = change.order
    }
  })
  return { order, payments, told }
}

const shuffles = (length: number) => fc.array(fc.nat(), { minLength: length * 2, maxLength: length * 2 })
/** Everything at least once, half of it twice, in an order that the keys decide. */
function shuffled(said: readonly Said[], keys: readonly number[]): Said[] {
  const twice = [...said, ...said.filter((_, index) => (keys[index] ?? 0) % 2 === 0)]
  return twice
    .map((item, index) => ({ item, key: keys[index] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

const stories = fc
  .record({ plan: plans, centavos: fc.bigInt({ min: 1n, max: 10n ** 9n }), feeBps: fc.bigInt({ min: 0n, max: 1000n }) })
  .chain(story => {
    const order = opened(story.centavos, story.feeBps, at(story.plan.expires))
    const said = played(story.plan, order.expectedUnits)
    return fc.record({
      plan: fc.constant(story.plan),
      order: fc.constant(order),
      said: fc.constant(said),
      first: shuffles(said.length),
      second: shuffles(said.length),
      cancelAfter: fc.nat({ max: said.length * 2 }),
    })
  })

/** What the final ledger amounts to, worked out in another way: by walking over the confirmed payments block by block. */
function outcome(order: Order, payments: readonly Payment[]): string {
  let total = 0n
  const confirmed = payments.filter(payment => payment.status === 'confirmed').sort((a, b) => Number(a.blockNumber - b.blockNumber))
  for (const payment of confirmed) {
    total += payment.shareUnits
    if (total >= order.expectedUnits) return payment.blockTime <= order.expiresAt ? 'paid' : 'expired'
  }
  return 'expired'
}

const tellsDeep = (plan: Plan) => plan.payments.some(({ fate }) => fate.startsWith('taken back'))
const count = (told: readonly string[], type: string) => told.filter(each => each === type).length

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
    fc.property(stories, ({ order, said, first, second, plan }) => {
      const inOrder = taken(order, said, null)
      for (const arrivals of [shuffled(said, first), shuffled(said, second)]) {
        const mixed = taken(order, arrivals, null)
        const end = ({ order: { status, receivedUnits, exception } }: typeof mixed) =>
          // Whether the merchant had been told `paid` before a deep reorg depends on what came first; the rest does not.
          tellsDeep(plan) ? { status, receivedUnits } : { status, receivedUnits, exception }
        expect(end(mixed)).toEqual(end(inOrder))
      }
      expect(inOrder.order.status).toBe(outcome(order, inOrder.payments))
    }),
  )

  checked(
    'invariant 3: at most one order.paid and at most one order.expired',
    fc.property(stories, ({ order, said, first, cancelAfter }) => {
      for (const each of [null, cancelAfter]) {
        const { told, order: end } = taken(order, shuffled(said, first), each)
        expect(count(told, 'order.paid')).toBe(end.paidAt === null ? 0 : 1)
        expect(count(told, 'order.expired')).toBeLessThanOrEqual(1)
        if (end.cancelledAt !== null) expect(end.status).toBe('cancelled')
      }
    }),
  )

  checked(
    'invariant 4: an order paid in time never expires on the way, however the news arrives',
    fc.property(stories, ({ order, said, first, plan }) => {
      fc.pre(!tellsDeep(plan))
      const { told, order: end, payments } = taken(order, shuffled(said, first), null)
      if (outcome(order, payments) !== 'paid') return
      expect([end.status, count(told, 'order.expired'), count(told, 'order.paid')]).toEqual(['paid', 0, 1])
    }),
  )

  checked(
    'fee + expected = gross, and received is the sum of the confirmed shares',
    fc.property(stories, ({ order, said, first }) => {
      expect(order.feeUnits + order.expectedUnits).toBe(order.usdcUnits)
      const { order: end, payments } = taken(order, shuffled(said, first), null)
      const confirmed = payments.filter(payment => payment.status === 'confirmed')
      expect(end.receivedUnits).toBe(confirmed.reduce((sum, payment) => sum + payment.shareUnits, 0n))
    }),
  )

  checked(
    'paying what is due, through the router’s split, always completes the order and never by a unit too much',
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.bigInt({ min: 0n, max: 1000n }),
      fc.integer({ min: 0, max: 99 }),
      (centavos, feeBps, percent) => {
        const share = (opened(centavos, feeBps, at(100)).expectedUnits * BigInt(percent)) / 100n
        const paid = (id: string, shareUnits: bigint): Payment => ({
          ...{ id, revision: 1, status: 'confirmed', shareUnits, payerAddress: '0x09', txHash: `0x${id}` },
          ...{ blockNumber: 1n, blockTime: at(50) },
        })
        const first = share > 0n ? [paid('a', share)] : []
        const { order } = review(opened(centavos, feeBps, at(100)), first, null, at(60))
        const due = dueUnits(order, first)
        const complete = (gross: bigint) => review(order, [...first, paid('b', splitFee(gross, feeBps).expected)], null, at(60)).order
        expect(complete(due).status).toBe('paid')
        if (due > 1n) expect(complete(due - 1n).status).not.toBe('paid')
      },
    ),
  )
})

it('nothing is due while enough is on its way', () => {
  const order = opened(15_000n, 100n, at(100))
  const coming: Payment = {
    ...{ id: 'a', revision: 1, status: 'detected', shareUnits: parseUsdc('10.000000'), payerAddress: '0x09', txHash: '0xa' },
    ...{ blockNumber: 1n, blockTime: at(50) },
  }
  expect(dueUnits(order, [])).toBe(order.usdcUnits)
  expect(splitFee(dueUnits(order, [coming]), 100n).expected).toBe(order.expectedUnits - coming.shareUnits)
  expect(dueUnits({ ...order, status: 'confirming' }, [])).toBe(0n)
})
