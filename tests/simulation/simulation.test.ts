import { startSimulation } from './simulation'

// Every order equals the oracle, whatever payers, strangers, merchants, the chain, the bus and the services do (invariants 1 to 4).

const SEEDS = [1]
const ORDERS_PER_SEED = 12

let simulation: Awaited<ReturnType<typeof startSimulation>>
beforeAll(async () => {
  simulation = await startSimulation()
})
afterAll(() => simulation?.stop(), 60_000)

it.each(SEEDS)(
  'seed %i: orders, payments, settlements and webhooks are what the chain states',
  async seed => {
    const { counts, differences } = await simulation.play(seed, ORDERS_PER_SEED)
    console.info(`simulation seed ${seed}: ${JSON.stringify(counts)}`)
    expect(differences).toEqual([])
  },
  900_000,
)
