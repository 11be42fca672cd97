import { siege } from '../siege/siege'
import { percentile, report } from './table'

// Honest payers beside one attacker who uses every trick at once, and the same without him.

const MINUTES = Number(process.env.BENCH_MINUTES ?? 30)
const EVERY_MS = Number(process.env.BENCH_EVERY_MS ?? 1_000)

async function main(): Promise<void> {
  const rows = []
  const p99: number[] = []
  for (const attacked of [false, true]) {
    const outcome = await siege({ seconds: MINUTES * 60, everyMs: EVERY_MS, attacked })
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
    if (attacked) console.log(`the attacker's gas bill ${attackerUsdc.toFixed(2)} USDC, budget ${outcome.budgetUsdc} USDC`)
  }
  report(`${MINUTES} minutes each: from paying to paid (ms), a block a second`, rows, [
    `p99 with the attacker is ${((p99[1] ?? 0) / (p99[0] ?? 1)).toFixed(2)} times that without; goal ≤ 1.5`,
  ])
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
