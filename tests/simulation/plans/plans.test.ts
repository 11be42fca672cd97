import { playPlan, RULES } from './play-plan'

// Plans are played with the services' own transitions, in memory: merchants change everything at any moment, orders and subscriptions are away for days,
// rates and payout addresses come and go, messages are late, shuffled and repeated, payments are part, late, double or reorganised away.

/** That plans lived together: most end within months. */
const YEARS = Number(process.env.PONTE_PLAN_YEARS ?? 150)
const FROM = Number(process.env.PONTE_PLAN_FROM ?? 1)

it(`${YEARS} years of plans, each with its own faults, end as the oracle states`, () => {
  const totals: Record<string, number> = { plans: 0 }
  const found: string[] = []
  let days = 0
  for (let seed = FROM; days < YEARS * 365; seed += 1) {
    const played = playPlan(seed, RULES)
    days += played.days
    found.push(...played.found)
    for (const [name, by] of Object.entries({ ...played.counts, plans: 1 })) totals[name] = (totals[name] ?? 0) + by
  }
  console.info(`${YEARS} plan-years: ${JSON.stringify(totals)}`)
  expect(found.slice(0, 20)).toEqual([])
}, 900_000)
