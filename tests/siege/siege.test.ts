import { siege } from './siege'

it('honest payers are paid beside an attacker who uses every trick at once, nothing twice, and within the budget', async () => {
  const outcome = await siege({ seconds: 10, everyMs: 1_000, attacked: true })
  console.log(outcome.tricks, outcome.outcomes, `${outcome.attackerUsdc} USDC`)
  expect(outcome).toMatchObject({ unpaid: 0, twice: 0 })
  expect(outcome.paidMs.length).toBeGreaterThan(5)
  expect(outcome.attackerUsdc).toBeLessThanOrEqual(outcome.budgetUsdc)
  expect(Object.keys(outcome.tricks).length).toBeGreaterThanOrEqual(8)
}, 300_000)
