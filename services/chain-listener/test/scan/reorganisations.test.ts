import { type Chain, memoOf, startChain } from '../chain'
import { expectTruth, levelWith } from '../expect-truth'
import { type Listening, startListener, statesOf } from '../setup'

describe('a reorganisation around a payment', () => {
  let chain: Chain
  let listening: Listening
  let next = 1
  const CONFIRMATIONS = 4

  beforeAll(async () => {
    chain = await startChain()
    await chain.mine(40)
    listening = await startListener({
      rpcUrls: chain.anvil.rpcUrl,
      router: chain.emitter,
      env: { CONFIRMATIONS: String(CONFIRMATIONS), REORG_WINDOW: '64', POLL_MS: '20' },
    })
  })
  afterAll(async () => {
    await listening?.stop()
    await chain?.stop()
  })
  const level = () => levelWith(chain, listening)
  const states = (memo: string) => statesOf(listening, memo)
  /** Pays, buries the payment under `depth - 1` blocks, and rolls all of that back. */
  const payAndRollBack = async (depth: number, records = [{ memo: memoOf(next++) }]) => {
    const nonce = await chain.nonce(1)
    const raw = await chain.sign(records, 1, nonce)
    await chain.broadcast(raw)
    await chain.mine(depth)
    await level()
    await chain.rollback(depth)
    return { memo: records[0]?.memo ?? '', raw, nonce }
  }
  const seen = (depth: number) => (depth >= CONFIRMATIONS ? ['confirmed'] : ['detected'])
  const depths = Array.from({ length: 30 }, (_, index) => index + 1)

  it.each(depths.filter(depth => depth % 4 === 0 || depth === 1))('%i deep: a dropped payment is orphaned', async depth => {
    const { memo } = await payAndRollBack(depth)
    await chain.mine(depth + 1)
    await level()
    expect(states(memo)).toEqual([...seen(depth), 'orphaned'])
    await expectTruth(chain, listening, CONFIRMATIONS)
  })

  it.each(depths.filter(depth => depth % 4 === 1))('%i deep: one that is mined again in a later block is the same payment', async depth => {
    const { memo, raw } = await payAndRollBack(depth)
    await chain.mine(1)
    await chain.broadcast(raw)
    await chain.mine(depth + CONFIRMATIONS)
    await level()
    const published = listening.published.payments().filter(event => event.data.memo === memo)
    expect(new Set(published.map(event => event.data.payment_id)).size).toBe(1)
    expect(published.map(event => event.data.revision)).toEqual(published.map(event => event.data.sequence))
    expect(states(memo)).toEqual([...seen(depth), 'orphaned', 'confirmed'])
    await expectTruth(chain, listening, CONFIRMATIONS)
  })

  it.each(depths.filter(depth => depth % 4 === 2))(
    '%i deep: one that comes back with another neighbour keeps its identity',
    async depth => {
      const [memo, even, odd] = [memoOf(next++), memoOf(next++), memoOf(next++)]
      const { raw } = await payAndRollBack(depth, [{ memo: even, parity: 'even' }, { memo: odd, parity: 'odd' }, { memo }] as never)
      await chain.mine(1)
      await chain.broadcast(raw)
      await chain.mine(depth + CONFIRMATIONS)
      await level()
      const ids = (wanted: string) =>
        new Set(listening.published.payments().flatMap(({ data }) => (data.memo === wanted ? [data.payment_id] : [])))
      expect([ids(memo).size, ids(even).size, ids(odd).size]).toEqual([1, 1, 1])
      expect(new Set([...ids(memo), ...ids(even), ...ids(odd)]).size).toBe(3)
      await expectTruth(chain, listening, CONFIRMATIONS)
    },
  )

  it.each(depths.filter(depth => depth % 4 === 3))(
    '%i deep: one that is replaced by another with its memo is orphaned, the other stands',
    async depth => {
      const { memo, nonce } = await payAndRollBack(depth)
      const other = await chain.broadcast(await chain.sign([{ memo, share: 5n, payer: `0x${'cc'.repeat(20)}` }], 1, nonce))
      await chain.mine(depth + CONFIRMATIONS)
      await level()
      const last = new Map(listening.published.payments().map(({ type, data }) => [data.tx_hash, type] as const))
      expect(last.get(other)).toBe('payment.confirmed')
      expect(states(memo)).toEqual([...seen(depth), 'orphaned', 'confirmed'])
      await expectTruth(chain, listening, CONFIRMATIONS)
    },
  )

  it('what a restored database has forgotten of a payment is published under a larger revision', async () => {
    const before = await listening.cursor()
    if (!before) throw new Error('nothing was scanned')
    const { memo, raw } = await payAndRollBack(1)
    await chain.mine(1)
    await chain.broadcast(raw)
    await chain.mine(1)
    await level()
    expect(states(memo)).toEqual(['detected', 'orphaned', 'detected'])
    // As docs/operating/recover.md describes: rows of an earlier moment, events numbered on.
    await listening.sql.query('DELETE FROM payments WHERE memo = $1', [memo])
    await listening.sql.query('DELETE FROM blocks WHERE number > $1', [before.scanned_number])
    await listening.sql.query(
      `UPDATE chain_cursor SET epoch = epoch + 1, scanned_number = $1, scanned_hash = $2, scanned_time = $3, confirmed_number = $4, confirmed_time = $5,
         announced_number = $6`,
      [
        before.scanned_number,
        before.scanned_hash,
        before.scanned_time,
        before.confirmed_number,
        before.confirmed_time,
        before.announced_number,
      ],
    )
    await chain.mine(CONFIRMATIONS)
    await level()
    const published = listening.published.payments().filter(event => event.data.memo === memo)
    expect([published.at(-1)?.type, new Set(published.map(({ data }) => data.payment_id)).size]).toEqual(['payment.confirmed', 1])
    const revisions = published.map(({ data }) => data.revision)
    expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b))
  })

  it('the events alone give the same state, numbered without a gap', () => {
    const payments = listening.published.payments()
    expect(payments.map(event => event.data.sequence)).toEqual(payments.map((_, index) => index + 1))
    expect(payments.length).toBeGreaterThan(100)
  })
})
