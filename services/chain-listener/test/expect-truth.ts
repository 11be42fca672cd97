import type { Chain } from './chain'
import type { Listening } from './setup'

/** Waits until the listener stands at the chain's head, by hash. */
export async function levelWith(chain: Chain, listening: Listening): Promise<void> {
  const head = await chain.rpc<{ hash: string; number: string }>('eth_getBlockByNumber', 'latest', false)
  await listening.until(
    async () => (await listening.cursor())?.scanned_hash === head.hash,
    async () => `the scan never came to block ${Number(head.number)}: ${JSON.stringify(await listening.listener.status())}`,
  )
  await listening.idle()
}

const text = (fields: readonly unknown[]) => fields.join(' ')

/**
 * The rule above all others: the confirmed payments are exactly those of the chain up to the confirmed line, those not orphaned exactly
 * those up to the head, and a reader of the statements knows the same. On a chain that was longer before, more may be confirmed,
 * because the line never goes back; `exactly` states that it was not.
 */
export async function expectTruth(
  chain: Chain,
  listening: Listening,
  confirmations: number,
  { exactly = false } = {},
): Promise<{ confirmed: number; events: number }> {
  const height = await chain.height()
  const all = (await chain.truth(height)).map(({ tx, block, memo, amount }) => text([tx, block, memo, amount])).toSorted()
  const confirmed = (await chain.truth(height - confirmations + 1))
    .map(({ tx, block, memo, amount }) => text([tx, block, memo, amount]))
    .toSorted()

  const rows = await listening.payments()
  const rowsIn = (states: readonly string[]) =>
    rows
      .filter(row => states.includes(row.state))
      .map(row => text([row.tx_hash, row.block_hash, row.memo, row.amount]))
      .toSorted()
  expect(rowsIn(['confirmed'])).toEqual(exactly ? confirmed : expect.arrayContaining(confirmed))
  expect(rowsIn(['confirmed', 'detected'])).toEqual(all)

  const published = listening.published.payments()
  const last = new Map(published.map(fact => [fact.data.payment_id, fact.type]))
  expect([...last].map(([id, type]) => text([id, type])).toSorted()).toEqual(
    rows.map(row => text([`${row.chain_id}:${row.block_hash}:${row.log_index}`, `payment.${row.state}`])).toSorted(),
  )
  expectAdvances(listening)
  return { confirmed: confirmed.length, events: published.length }
}

/** The ranges that were confirmed follow each other without a gap, and hold exactly the confirmed payments of their blocks that their events name. */
function expectAdvances({ published }: Listening): void {
  const blocks = published.blocks()
  const newest = blocks
    .map(({ generation }) => generation)
    .toSorted()
    .at(-1)
  const ranges = blocks
    .flatMap(({ generation, advanced }) => (advanced && generation === newest ? [advanced] : []))
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
  const since = blocks.find(({ generation }) => generation === newest)?.since ?? 0
  let watermark = since - 1
  for (const { from, to } of ranges) {
    expect(from).toBeLessThanOrEqual(watermark + 1)
    watermark = Math.max(watermark, to)
  }
}
