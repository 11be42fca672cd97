import fc from 'fast-check'
import type { Payment } from '../payment/payment'
import { EMPTY, type Tally, tallyOf, tallyWith } from './tally'

const at = (second: number) => new Date(Date.UTC(2026, 10, 29, 12, 0, second))

/** Amoy and Arbitrum Sepolia. */
const [FIRST, SECOND] = [80_002, 421_614]

interface Mined {
  chain: number
  second: number
  units: number
  fate: 'stays' | 'goes'
}

/** Blocks of two chains: one of them mines every second and one every other, so that seconds are shared and block numbers are not. */
const paymentOf = ({ chain, second, units }: Mined, index: number): Payment => ({
  id: `${chain}:0x${index}:${index}`,
  kind: index % 2 === 0 ? 'router' : 'transfer',
  version: 1,
  generation: null,
  blockHash: `0x${index}`,
  status: 'confirmed',
  grossUnits: BigInt(units),
  payerAddress: '0x09',
  depositAddress: null,
  txHash: `0x${index}`,
  blockNumber: BigInt(chain === FIRST ? 5_000 + second : Math.floor(second / 2)),
  blockTime: at(chain === FIRST ? second : Math.floor(second / 2) * 2),
  logIndex: index,
})

/** Worked out anew from the list alone, in the words of the rule: by block time, a chain's blocks and logs in their order. */
function judge(payments: readonly Payment[], required: bigint) {
  const standing = payments.filter(({ status }) => status === 'confirmed')
  const chain = ({ id }: Payment) => Number(id.split(':')[0])
  const sorted = standing.toSorted(
    (a, b) =>
      a.blockTime.getTime() - b.blockTime.getTime() ||
      (chain(a) === chain(b) ? Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex : chain(a) < chain(b) ? -1 : 1),
  )
  let sum = 0n
  let completing: Payment | undefined
  for (const payment of sorted) {
    sum += payment.grossUnits
    if (!completing && sum >= required) completing = payment
  }
  const block = completing
  const until = block ? sorted.findLastIndex(each => chain(each) === chain(block) && each.blockNumber === block.blockNumber) : -1
  return {
    confirmed: sum,
    completing: completing?.txHash ?? null,
    time: completing?.blockTime ?? null,
    completed: sorted.slice(0, until + 1).reduce((total, { grossUnits }) => total + grossUnits, 0n),
    last: sorted.at(-1)?.txHash ?? null,
  }
}

const shown = (tally: Tally) => ({
  confirmed: tally.confirmedUnits,
  completing: tally.completingTxHash,
  time: tally.completingTime,
  completed: tally.completedUnits,
  last: tally.lastTxHash,
})

const mined = fc.array(
  fc.record<Mined>({
    // As text the second one would come first.
    chain: fc.constantFrom(FIRST, SECOND),
    second: fc.integer({ min: 0, max: 12 }),
    units: fc.integer({ min: 1, max: 60 }),
    fate: fc.constantFrom('stays', 'stays', 'stays', 'goes'),
  }),
  { minLength: 1, maxLength: 12 },
)

it('payments of two chains come to the same in whatever order they are reported, by block time and not by block number', () => {
  fc.assert(
    fc.property(mined, fc.infiniteStream(fc.nat()), (plan, keys) => {
      const payments = plan.map(paymentOf)
      const steps = [
        ...payments.map(payment => [payment, [...keys.take(1)][0] ?? 0] as const),
        ...payments.flatMap((payment, index) =>
          plan[index]?.fate === 'goes' ? [[{ ...payment, status: 'orphaned' as const }, [...keys.take(1)][0] ?? 0] as const] : [],
        ),
      ].toSorted(([, a], [, b]) => a - b)
      let tally = EMPTY
      const known = new Map<string, Payment>()
      for (const [payment] of steps) {
        // A payment that is gone does not come back in the same block.
        if (known.get(payment.id)?.status === 'orphaned') continue
        const before = [...known.values()]
        known.set(payment.id, payment)
        tally = tallyWith(tally, before, [payment], 100n) ?? tallyOf([...known.values()], 100n)
        expect(shown(tally)).toEqual(judge([...known.values()], 100n))
      }
    }),
    { numRuns: 1_000 },
  )
})

it('dust on a slower chain is added without the other payments, before the order is paid and behind what completed it', () => {
  const [first, completing, late, dust] = [
    { chain: FIRST, second: 4, units: 10 },
    { chain: FIRST, second: 5, units: 90 },
    { chain: FIRST, second: 9, units: 1 },
    { chain: SECOND, second: 6, units: 1 },
  ].map((plan, index) => paymentOf({ ...plan, fate: 'stays' }, index)) as [Payment, Payment, Payment, Payment]
  const early = paymentOf({ chain: SECOND, second: 2, units: 1, fate: 'stays' }, 4)
  const underpaid = tallyOf([first], 100n)
  const paid = tallyOf([first, completing, late], 100n)

  expect(tallyWith(underpaid, [], [early], 100n)).toEqual(tallyOf([first, early], 100n))
  expect(tallyWith(paid, [], [dust], 100n)).toEqual(tallyOf([first, completing, late, dust], 100n))
  expect(tallyWith(paid, [], [early], 100n)).toBeNull()
})
