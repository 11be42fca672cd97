import { parseArgs } from 'node:util'
import { siege } from '../siege/siege'
import { percentile, report } from './table'

// Honest payers beside one attacker who uses every trick at once, and the same without him.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: process.env.BENCH_MINUTES ?? '30' },
    /** Minutes without the attacker, when they are to be fewer. */
    alone: { type: 'string' },
  },
})
const MINUTES = Number(values.minutes)
const ALONE = Number(values.alone ?? values.minutes)
const RATIO_MAX = 1.5
const EVERY_MS = Number(process.env.BENCH_EVERY_MS ?? 1_000)

async function main(): Promise<void> {
  const rows = []
  const p99: number[] = []
  const bill: string[] = []
  let isBounded = true
  for (const attacked of [false, true]) {
    const outcome = await siege({ seconds: (attacked ? MINUTES : ALONE) * 60, everyMs: EVERY_MS, attacked })
    const { paidMs, unpaid, refused, twice, attackerUsdc, allUsdc } = outcome
    p99.push(percentile(paidMs, 0.99))
    const figures = {
      p50: [percentile(paidMs, 0.5)],
      p99: [percentile(paidMs, 0.99)],
      paid: [paidMs.length],
      'not paid': [unpaid],
      'signed, refused, transferred': [refused],
      twice: [twice],
      'USDC of gas for the attacker': [attackerUsdc],
      'USDC of gas': [allUsdc],
    }
    rows.push({ name: attacked ? 'with an attacker' : 'alone', figures })
    console.table(outcome.tricks)
    console.table(outcome.outcomes)
    console.table(outcome.slowest)
    bill.push(`${attackerUsdc.toFixed(2)} of ${outcome.budgetUsdc} USDC`)
    isBounded &&= attackerUsdc <= outcome.budgetUsdc && unpaid === 0 && twice === 0
  }
  const [alone = 0, beside = 0] = p99
  const verdict = isBounded && beside <= RATIO_MAX * alone ? 'kept' : 'missed'
  const ratio = (beside / alone).toFixed(2)
  report(`${ALONE} minutes alone, ${MINUTES} beside the attacker: from paying to paid (ms), a block a second`, rows, [
    `${verdict}: p99 ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside the attacker, ratio ${ratio} (at most ${RATIO_MAX}); their gas cost us ${bill[1]}`,
  ])
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
