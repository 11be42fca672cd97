import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { judgeEntries, judgeFiles, judgeMonths, judgeSummaries } from './judge'
import { startOrders } from './orders'
import { playDays } from './play'

// What came, by the token's logs alone, is what each view of the books shows: every address, day, week and month, to the last unit (docs/money.md, "The ledger").
// The long form: npm run long -- days [seed] [days].

const seed = Number(process.env.PONTE_DAYS_SEED ?? 1)
const days = Number(process.env.PONTE_DAYS ?? 20)
/** With the 29th of February, and the days on which clocks are set forward in New York and back on Lord Howe. */
const FROM = Date.parse('2024-02-22T00:00:00Z')

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
}, 120_000)
afterAll(() => chain?.stop())

const JUDGES = { judgeEntries, judgeSummaries, judgeMonths, judgeFiles }

test(`${days} days of seed ${seed}: every view of the books is what the chain shows`, async () => {
  const service = await startOrders(chain, FROM)
  try {
    const played = await playDays(service, chain, { seed, days, from: FROM })
    console.info(`${days} days of seed ${seed}: ${JSON.stringify(played.counts)}`)
    for (const [name, judge] of Object.entries(JUDGES)) {
      const t0 = Date.now()
      expect((await judge(service, played)).slice(0, 20)).toEqual([])
      console.info(name, Date.now() - t0)
    }
    expect(service.dead).toEqual([])
  } finally {
    await service.stop()
  }
}, 7_200_000)
