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
    expect(published.map(event => event.data.revision)).toEqual(published.map((_, index) => index + 1))
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

  it('the events alone give the same state, numbered without a gap', () => {
    const payments = listening.published.payments()
    expect(payments.map(event => event.data.sequence)).toEqual(payments.map((_, index) => index + 1))
    expect(payments.length).toBeGreaterThan(100)
  })
})
