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
 * those up to the head, and a reader that folds the events by revision knows the same. On a chain that was longer before, more may be confirmed,
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
  const last = new Map<string, (typeof published)[number]>()
  const terms = new Map<string, string>()
  for (const event of published) {
    const { payment_id: id, sequence, revision, memo, amount, payer_address } = event.data
    expect(revision).toBe(sequence)
    const reported = text([memo, amount, payer_address])
    expect(terms.get(id) ?? reported).toBe(reported)
    terms.set(id, reported)
    last.set(id, event)
  }
  expect(published.map(event => event.data.sequence)).toEqual(published.map((_, index) => index + 1))
  expect([...last].map(([id, { type }]) => text([id, type])).toSorted()).toEqual(
    rows.map(row => text([`${row.chain_id}:${row.tx_hash}:${row.ordinal}`, `payment.${row.state}`])).toSorted(),
  )
  return { confirmed: confirmed.length, events: published.length }
}
