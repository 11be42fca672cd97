import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { type Judge, judgeEntries, judgeFiles, judgeMonths, judgeSummaries } from './judge'
import { type Fault, startOrders } from './orders'
import { playDays } from './play'

// All that came, by the token's logs alone, is what each view of the books shows: every address, day, week and month, to the last unit (docs/money.md, "The ledger").
// The long form: npm run long -- days [seed] [days].

const seed = Number(process.env.PONTE_DAYS_SEED ?? 1)
const days = Number(process.env.PONTE_DAYS ?? 20)
/** With the 29th of February; of a fortnight more, also the day on which the clocks of New York are set forward. */
const FROM = Date.parse('2024-02-22T00:00:00Z')

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain?.stop())

async function played(options: { seed: number; days: number }, judges: readonly Judge[], fault?: Fault) {
  const service = await startOrders(chain, FROM, fault)
  try {
    const story = await playDays(service, chain, { ...options, from: FROM })
    const found: string[] = []
    for (const judge of judges) found.push(...(await judge(service, story)))
    expect(service.dead).toEqual([])
    return { counts: story.counts, found }
  } finally {
    await service.stop()
  }
}

test(`${days} days of seed ${seed}: every view of the books is what the chain shows`, async () => {
  const { counts, found } = await played({ seed, days }, [judgeEntries, judgeSummaries, judgeMonths, judgeFiles])
  console.info(`${days} days of seed ${seed}: ${JSON.stringify(counts)}`)
  expect(found).toEqual([])
}, 7_200_000)

/** Another text in the place of one of a view or a function of the database. */
const rewritten =
  (kind: 'view' | 'function', name: string, from: RegExp, to: string): Fault =>
  async sql => {
    const read = kind === 'view' ? 'SELECT pg_get_viewdef($1::regclass) AS text' : 'SELECT pg_get_functiondef($1::regprocedure) AS text'
    const { rows } = await sql.query<{ text: string }>(read, [name])
    const [{ text } = { text: '' }] = rows
    const changed = text.replace(from, to)
    if (changed === text) throw new Error(`${name} has no ${from}`)
    await sql.query(kind === 'view' ? `CREATE OR REPLACE VIEW ${name} AS ${changed}` : changed)
  }

describe('a fault that is put back is found', () => {
  const short = { seed: 2, days: 9 }

  test('days and months by UTC, of books that are right', async () => {
    const service = await startOrders(chain, FROM)
    try {
      const story = await playDays(service, chain, { ...short, from: FROM })
      expect([
        ...(await judgeEntries(service, story)),
        ...(await judgeSummaries(service, story)),
        ...(await judgeMonths(service, story)),
      ]).toEqual([])
      expect(await judgeSummaries(service, story, 'UTC')).toContainEqual(expect.stringMatching(/by day in America\/Sao_Paulo/))
      expect(await judgeMonths(service, story, 'UTC')).toContainEqual(expect.stringMatching(/page of 2024-02/))
    } finally {
      await service.stop()
    }
  })

  test.each<[string, Fault, RegExp]>([
    [
      'the payout address of today',
      rewritten(
        'function',
        'paid_at(text, timestamptz, integer)',
        /AND date_trunc\('second'(?:::text)?, since\) <= paid[\s\S]*'infinity'\)/,
        'AND NOT EXISTS (SELECT FROM payout_addresses AS later WHERE later.merchant_id = known.merchant_id AND later.merchant_version > known.merchant_version)',
      ),
      /direct to/,
    ],
    [
      'late money left out',
      rewritten(
        'view',
        'due_entries_of_money_in',
        /\(paid\.status = 'confirmed'(::\w+)?\)/,
        "(paid.status = 'confirmed' AND orders.status = 'paid')",
      ),
      /payment of/,
    ],
    [
      'what becomes known of a closed month booked into it',
      rewritten('function', 'book(text[])', /GREATEST\(now\(\), through\)/i, 'block_time'),
      /at 2024-02/,
    ],
  ])('%s', async (_, fault, expected) => {
    const { found } = await played(short, [judgeEntries], fault)
    expect(found).toContainEqual(expect.stringMatching(expected))
  })
})
