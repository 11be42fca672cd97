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
  beforeAll(async () => {
    chain = await startChain()
    listening = await startListener({
      rpcUrls: chain.anvil.rpcUrl,
      router: chain.emitter,
      env: { RECONCILE_EVERY_S: '1', RECONCILE_BLOCKS: '2' },
    })
    await chain.pay([{ memo: memoOf(1) }, { memo: memoOf(2) }])
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
  /**
   * Harms the first payment, waits until it is seen in both ways, repairs it and waits until nothing is seen. The repair states values, because the listener
   * may have read the payment again by then.
   */
  const harmed = async (set: string) => {
    const { rows } = await listening.sql.query('SELECT amount, log_index FROM payments WHERE memo = $1', [memoOf(1)])
    const { amount, log_index } = rows[0] ?? {}
    await listening.sql.query(`UPDATE payments SET ${set} WHERE memo = $1`, [memoOf(1)])
    const { differences } = await ask(0, await chain.height())
    await listening.until(async () => (await counted()) > 0, 'the metric does not see it')
    await listening.sql.query('DELETE FROM payments WHERE memo = $1 AND log_index <> $2', [memoOf(1), log_index])
    await listening.sql.query("UPDATE payments SET state = 'confirmed', amount = $2 WHERE memo = $1", [memoOf(1), amount])
    await listening.until(async () => (await counted()) === 0, 'the metric still sees it')
    return differences.map(({ kind }) => kind)
  }

  it('finds nothing where there is nothing, and names what the books have', async () => {
    const found = await ask(0, 1_000)
    expect(found).toMatchObject({ differences: [], confirmed_block: await chain.height() })
    expect(found.payments).toMatchObject([
      { payment_id: expect.stringMatching(/^31337:0x[0-9a-f]{64}:0$/), status: 'confirmed', amount: '1.000000' },
      { payment_id: expect.stringMatching(/^31337:0x[0-9a-f]{64}:1$/), status: 'confirmed', amount: '1.000000' },
    ])
    await listening.until(async () => (await counted()) === 0, 'nothing was compared')
  })

  it('names what was lost, changed, invented and left unconfirmed, far below the newest blocks too', async () => {
    expect(await harmed("state = 'orphaned'")).toEqual(['missing'])
    expect(await harmed('amount = amount + 1')).toEqual(['changed'])
    expect(await harmed("state = 'detected'")).toEqual(['unconfirmed'])
    expect(await harmed('log_index = log_index + 7')).toEqual(['missing', 'unfounded'])
  })

  it('refuses a span that is too wide or no span', async () => {
    for (const asked of ['', 'from_block=0', 'from_block=0&to_block=9999', 'from_block=x&to_block=1'])
      expect((await listening.fetch(`/reconcile?${asked}`)).status).toBe(400)
  })
})
