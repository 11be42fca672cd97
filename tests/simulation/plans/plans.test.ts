import { playYear, RULES } from './year'

// Plans are played with the services' own transitions, in memory: merchants change everything at any moment, orders and subscriptions are away for days,
// rates and payout addresses come and go, messages are late, shuffled and repeated, payments are part, late, double or reorganised away.

const YEARS = Number(process.env.PONTE_PLAN_YEARS ?? 2_000)
const FROM = Number(process.env.PONTE_PLAN_FROM ?? 1)

it(`${YEARS} years of plans, each with its own faults, end as the oracle states`, () => {
  const totals: Record<string, number> = {}
  const found: string[] = []
  for (let seed = FROM; seed < FROM + YEARS; seed += 1) {
    const year = playYear(seed, RULES)
    found.push(...year.found)
    for (const [name, by] of Object.entries(year.counts)) totals[name] = (totals[name] ?? 0) + by
  }
  console.info(`${YEARS} plan-years: ${JSON.stringify(totals)}`)
  expect(found.slice(0, 20)).toEqual([])
}, 900_000)
