import { type Chain, memoOf, startChain } from './chain'
import { type Listening, startListener } from './setup'

interface Reconciled {
  payments: { payment_id: string; status: string; amount: string }[]
  differences: { kind: string; tx_hash: string; detail: string }[]
  confirmed_block: number
}

describe('issue: the scheduled auditor', () => {
  let chain: Chain
  let listening: Listening
  let hash: string
  beforeAll(async () => {
    chain = await startChain()
    listening = await startListener({
      rpcUrls: chain.anvil.rpcUrl,
      router: chain.emitter,
      env: { RECONCILE_EVERY_S: '1', RECONCILE_BLOCKS: '2' },
    })
    hash = await chain.pay([{ memo: memoOf(1) }, { memo: memoOf(2) }])
    await chain.mine(6)
    await listening.idle()
  })
  afterAll(async () => {
    await listening?.stop()
    await chain?.stop()
  })

  const ask = async (from: number, to: number) =>
    (await (await listening.fetch(`/reconcile?from_block=${from}&to_block=${to}`)).json()) as Reconciled
  const counted = async () =>
    Number(/^ponte_reconcile_differences\{[^}]*\} (.*)$/m.exec(await (await listening.fetch('/metrics')).text())?.[1])
  /** Harms the first payment, waits until it is seen in both ways, repairs it and waits until nothing is seen. */
  const harmed = async (set: string, repair: string) => {
    await listening.sql.query(`UPDATE payments SET ${set} WHERE tx_hash = $1 AND ordinal = 0`, [hash])
    const { differences } = await ask(0, await chain.height())
    await listening.until(async () => (await counted()) === differences.length, 'the metric does not see it')
    await listening.sql.query(`UPDATE payments SET ${repair} WHERE tx_hash = $1 AND ordinal = 0`, [hash])
    await listening.until(async () => (await counted()) === 0, 'the metric still sees it')
    return differences.map(({ kind }) => kind)
  }

  it('finds nothing where there is nothing, and names what the books have', async () => {
    const found = await ask(0, 1_000)
    expect(found).toMatchObject({ differences: [], confirmed_block: await chain.height() })
    expect(found.payments).toMatchObject([
      { payment_id: `31337:${hash}:0`, status: 'confirmed', amount: '1.000000' },
      { payment_id: `31337:${hash}:1`, status: 'confirmed', amount: '1.000000' },
    ])
    await listening.until(async () => (await counted()) === 0, 'nothing was compared')
  })

  it('names what was lost, changed, invented and left unconfirmed, far below the newest blocks too', async () => {
    expect(await harmed("state = 'orphaned'", "state = 'confirmed'")).toEqual(['missing'])
    expect(await harmed('amount = amount + 1', 'amount = amount - 1')).toEqual(['changed'])
    expect(await harmed("state = 'detected'", "state = 'confirmed'")).toEqual(['unconfirmed'])
    expect(await harmed('log_index = log_index + 7', 'log_index = log_index - 7')).toEqual(['missing', 'unfounded'])
  })

  it('refuses a span that is too wide or no span', async () => {
    for (const asked of ['', 'from_block=0', 'from_block=0&to_block=9999', 'from_block=x&to_block=1'])
      expect((await listening.fetch(`/reconcile?${asked}`)).status).toBe(400)
  })
})
