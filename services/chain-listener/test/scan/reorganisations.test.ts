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

  it.each(depths.filter(depth => depth % 4 === 1))(
    '%i deep: one that is mined again in a later block is another payment there, and the first is orphaned',
    async depth => {
      const { memo, raw } = await payAndRollBack(depth)
      await chain.mine(1)
      await chain.broadcast(raw)
      await chain.mine(depth + CONFIRMATIONS)
      await level()
      const published = listening.published.payments().filter(event => event.data.memo === memo)
      expect(new Set(published.map(event => event.data.payment_id)).size).toBe(2)
      expect(new Set(published.map(event => event.data.tx_hash)).size).toBe(1)
      expect(states(memo)).toEqual([...seen(depth), 'orphaned', 'confirmed'])
      await expectTruth(chain, listening, CONFIRMATIONS)
    },
  )

  it.each(depths.filter(depth => depth % 4 === 2))(
    '%i deep: one that comes back with another neighbour is orphaned once and counted once',
    async depth => {
      const [memo, even, odd] = [memoOf(next++), memoOf(next++), memoOf(next++)]
      const { raw } = await payAndRollBack(depth, [{ memo: even, parity: 'even' }, { memo: odd, parity: 'odd' }, { memo }] as never)
      await chain.mine(1)
      await chain.broadcast(raw)
      await chain.mine(depth + CONFIRMATIONS)
      await level()
      const confirmed = (wanted: string) =>
        listening.published.payments().filter(({ type, data }) => data.memo === wanted && type === 'payment.confirmed')
      expect(states(memo)).toEqual([...seen(depth), 'orphaned', 'confirmed'])
      // In a block of the other parity one of the two is paid, in this one the other.
      expect(new Set([...confirmed(even), ...confirmed(odd)].map(({ data }) => data.memo)).size).toBeGreaterThan(0)
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

  it('the events alone give the same state, and no version twice for two steps', () => {
    const blocks = listening.published.blocks()
    const steps = new Map(blocks.map(({ version, head, since, lease }) => [version, JSON.stringify({ head, since, lease })]))
    for (const { version, head, since, lease } of blocks) expect(steps.get(version)).toBe(JSON.stringify({ head, since, lease }))
    expect(listening.published.payments().length).toBeGreaterThan(100)
  })
})
