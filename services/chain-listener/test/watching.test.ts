import type { Fault } from '@ponte/local-servers'
import type { Status } from '../src/scan/status'
import { type RelayWorld, startRelayWorld } from './relay/relayer-setup'
import { type Listening, statesOf } from './setup'

const AMOUNT = 10_000_000n
const HOUR = 3_600_000

let world: RelayWorld
afterEach(() => world.stop())

const confirmedOf = (listening: Listening, memo: string) =>
  listening.published.payments().find(({ type, data }) => type === 'payment.confirmed' && data.memo === memo)
const syncedOf = (listening: Listening, orderId: string) =>
  listening.published.blocks().filter(({ watched }) => watched.some(({ order_id }) => order_id === orderId))
/** Each statement that confirms a block names its payments. */
function expectKnownBeforePassed(listening: Listening, memo: string) {
  const payment = confirmedOf(listening, memo)?.data
  if (!payment) throw new Error('it was not confirmed')
  for (const { advanced, payments } of listening.published.blocks())
    if (advanced && advanced.from <= payment.block_number && advanced.to >= payment.block_number)
      expect(payments.map(one => one.tx_hash)).toContain(payment.tx_hash)
}

describe('an address is payable for ever and watched for ever', () => {
  it('away until an hour after expiry, the listener reads the missed blocks before the chain has passed them', async () => {
    world = await startRelayWorld()
    let listening = await world.start({ REORG_WINDOW: '20' })
    const order = await world.open(listening, { expiresAt: new Date(Date.now() + HOUR / 60) })
    await listening.idle()
    await listening.stop()
    const hash = await world.pay(order.address, AMOUNT)
    // Further than the window of blocks that are read one by one.
    await world.chain.mine(60)
    listening = await world.start({ REORG_WINDOW: '20' }, { now: () => new Date(Date.now() + 3 * HOUR) })
    await listening.idle()
    expect(confirmedOf(listening, order.memo)?.data.tx_hash).toBe(hash)
    expectKnownBeforePassed(listening, order.memo)
    expect(syncedOf(listening, order.id)).toHaveLength(1)
  })

  it('an order that arrives late is synced only after what was paid to it before', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ REORG_WINDOW: '20' })
    let hash = ''
    const watchFrom = await world.chain.provider.getBlockNumber()
    const order = await world.open(listening, {
      watchFrom,
      expiresAt: new Date(Date.now() - 5 * HOUR),
      async alreadySent(address) {
        hash = await world.pay(address, AMOUNT)
        await world.chain.mine(300)
        await listening.idle()
      },
    })
    await listening.idle()
    const payment = confirmedOf(listening, order.memo)
    expect(payment?.data.tx_hash).toBe(hash)
    const [synced, ...more] = syncedOf(listening, order.id)
    expect(more).toEqual([])
    expect(synced?.payments.map(({ tx_hash }) => tx_hash)).toEqual([hash])
    // Nor is one missed whose publisher knew of a head that is not there.
    const other = await world.open(listening, {
      watchFrom: 1_000_000,
      async alreadySent(address) {
        await world.pay(address, AMOUNT)
        await listening.idle()
      },
    })
    await listening.idle()
    expect(statesOf(listening, other.memo)).toEqual(['confirmed'])
  })

  it('an order is not synced by one answer that leaves out what was paid to it before', async () => {
    world = await startRelayWorld()
    const listening = await world.start({ RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '', RECONCILE_EVERY_S: '3600' })
    let hash = ''
    let hidden = 1
    const order = await world.open(listening, {
      watchFrom: 1,
      async alreadySent(address) {
        hash = await world.pay(address, AMOUNT)
        await world.chain.mine(30)
        await listening.idle()
        world.proxy.set({
          each: ({ method, params: [filter] }, answer) => {
            const { topics } = Object(filter) as { topics?: unknown[] }
            const isOfAddress = method === 'eth_getLogs' && JSON.stringify(topics).includes(address.slice(2).toLowerCase())
            return isOfAddress && hidden-- > 0 ? { ...answer, result: [] } : undefined
          },
        })
      },
    })
    await listening.until(() => syncedOf(listening, order.id).length === 1, 'it was not synced')
    expect(syncedOf(listening, order.id).map(({ payments }) => payments.map(({ tx_hash }) => tx_hash))).toEqual([[hash]])
    expect(hidden).toBeLessThan(1)
  })

  it('a deposit long after the order expired is a payment under its own hash, and swept', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening, { expiresAt: new Date(Date.now() - 400 * 24 * HOUR) })
    await listening.idle()
    const hash = await world.pay(order.address, AMOUNT)
    await listening.idle()
    expect(confirmedOf(listening, order.memo)?.data).toMatchObject({ tx_hash: hash, payer_address: world.chain.wallet(7).address })
    expect(await world.received(order.memo)).toHaveLength(1)
  })

  it('an order whose earlier blocks cannot be read holds up neither the scan nor another order', async () => {
    world = await startRelayWorld()
    await world.chain.mine(600)
    const tooMuch = { code: -32602, message: 'exceed maximum block range: 1' }
    world.proxy.set({
      each({ method, params: [first] }, { id, result }) {
        const header = method === 'eth_getBlockByNumber' ? (result as { number: string; transactions: string[] } | null) : null
        // Not even the receipt of a transaction there can be had.
        if (header && Number(header.number) < 300)
          return { id, jsonrpc: '2.0', result: { ...header, transactions: [`0x${'ab'.repeat(32)}`] } }
        const { fromBlock } = Object(first) as { fromBlock?: string }
        const refuses =
          method === 'eth_getTransactionReceipt' || (method === 'eth_getLogs' && fromBlock !== undefined && Number(fromBlock) < 300)
        return refuses ? { id, jsonrpc: '2.0', error: tooMuch } : undefined
      },
    })
    const start = String((await world.chain.provider.getBlockNumber()) - 200)
    const listening = await world.start({ START_BLOCK: start, RANGE_MAX: '20', RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '' })
    await listening.until(async () => (await listening.cursor())?.scanned_number !== null, 'it never began')
    await listening.sql.query('UPDATE chain_cursor SET start_block = 0')
    await listening.sql.query('UPDATE chain_cursor SET epoch = epoch + 1')
    const old = await world.open(listening, { watchFrom: 5 })
    // More of them than one turn takes.
    await listening.sql.query(
      `WITH more AS (
         INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, expires_at, watch_from, asked)
         SELECT 31337, gen_random_uuid(), md5(n::text) || md5(n::text), merchant, router, '0x' || left(md5(n::text) || md5(n::text), 40), expires_at, 5, 1
         FROM payables, generate_series(1, 5000) AS n WHERE order_id = $1 RETURNING address)
       INSERT INTO coverage SELECT 31337, address, '{(,5)}' FROM more`,
      [old.id],
    )
    const isAt = async (block: number) => Number((await listening.cursor())?.scanned_number) >= block
    const state = async () => JSON.stringify({ cursor: await listening.cursor(), status: await listening.listener.status() })
    await listening.until(
      () => isAt(Number(start) + 190),
      async () => `the scan does not go on: ${await state()}`,
      120_000,
    )
    const order = await world.open(listening, { watchFrom: Number(start) + 50 })
    await listening.until(() => syncedOf(listening, order.id).length === 1, 'the other order was not synced', 40_000)
    await world.pay(order.address, AMOUNT)
    await listening.until(() => statesOf(listening, order.memo).includes('confirmed'), 'the other order was not paid', 40_000)
    expect(syncedOf(listening, old.id)).toEqual([])
    // Nor what is to be read again, where no node gives it or where nodes do.
    const again = Number(start) + 160
    const rescan = (block: number) =>
      fetch(`http://127.0.0.1:${listening.listener.ops.port()}/rescan?from_block=${block}&to_block=${block}`, { method: 'POST' })
    await rescan(250)
    await rescan(again)
    const isUnread = async (block: number) =>
      (await listening.sql.query("SELECT 1 FROM coverage WHERE subject = 'transfers' AND NOT blocks @> $1::bigint", [block])).rowCount === 1
    await listening.until(async () => !(await isUnread(again)), 'a range was not read again', 40_000)
    expect(await isUnread(250)).toBe(true)
    world.proxy.set()
    await listening.until(() => syncedOf(listening, old.id).length === 1, 'it was never synced', 120_000)
  }, 360_000)

  it('an order whose event came late is read however many new ones come', async () => {
    world = await startRelayWorld()
    await world.chain.mine(60)
    const listening = await world.start({ RANGE_MAX: '5', RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '' })
    await listening.idle()
    // Each new order that is read brings the next one: the scan finds one at every turn.
    await listening.sql.query(`
      CREATE FUNCTION order_comes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WITH more AS (
          INSERT INTO payables (chain_id, order_id, memo, merchant, router, address, expires_at, watch_from, asked)
          SELECT NEW.chain_id, gen_random_uuid(), md5(random()::text) || md5(random()::text), NEW.merchant, NEW.router,
            '0x' || left(md5(random()::text) || md5(random()::text), 40), NEW.expires_at, scanned_number, 1 FROM chain_cursor
          RETURNING chain_id, address, watch_from)
        INSERT INTO coverage SELECT chain_id, address, int8multirange(int8range(NULL, watch_from)) FROM more;
        RETURN NULL;
      END $$`)
    await listening.sql.query(
      'CREATE TRIGGER order_comes AFTER UPDATE OF answered ON payables FOR EACH ROW WHEN (NEW.answered > OLD.answered) EXECUTE FUNCTION order_comes()',
    )
    await world.open(listening, { watchFrom: await world.chain.provider.getBlockNumber() })
    await listening.until(async () => Number((await listening.sql.query('SELECT 1 FROM payables')).rowCount) > 5, 'no orders come')
    const late = await world.open(listening, { watchFrom: 5 })
    await listening.until(() => syncedOf(listening, late.id).length === 1, 'it is not read while others come', 20_000)
    await listening.sql.query('DROP TRIGGER order_comes ON payables')
  })

  it('no router key, no expiry and no number of restarts makes the scan forget an address', async () => {
    world = await startRelayWorld()
    let listening = await world.start({ RELAYER_PRIVATE_KEY: '' })
    const order = await world.open(listening)
    for (let round = 1; round <= 3; round++) {
      await listening.idle()
      await listening.stop()
      await world.pay(order.address, AMOUNT)
      listening = await world.start({ RELAYER_PRIVATE_KEY: '' })
      await listening.idle()
      expect(statesOf(listening, order.memo)).toEqual(Array.from({ length: round }, () => 'confirmed'))
    }
    expect(syncedOf(listening, order.id)).toHaveLength(1)
  })
})

describe('a node that refuses only logs by recipient', () => {
  type Calls = Parameters<NonNullable<Fault['whole']>>[0]
  const isByRecipient = ({ method, params: [first] }: Calls[number]) =>
    method === 'eth_getLogs' && Array.isArray((Object(first) as { topics?: unknown[] }).topics?.[2])
  const isHead = ({ method, params: [block] }: Calls[number]) => method === 'eth_getBlockByNumber' && block === 'latest'
  const refusals: [string, (isRefused: (call: Calls[number]) => boolean) => Fault][] = [
    [
      '-32601',
      isRefused => ({
        each: (call, { id }) =>
          isRefused(call)
            ? { id, jsonrpc: '2.0', error: { code: -32601, message: 'the method is not available on this plan' } }
            : undefined,
      }),
    ],
    ...[403, 429].map((status): [string, (isRefused: (call: Calls[number]) => boolean) => Fault] => [
      `HTTP ${status}`,
      isRefused => ({
        whole(calls, response) {
          if (!calls.some(isRefused)) return false
          response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
          return true
        },
      }),
    ]),
  ]

  it.each(refusals)('with %s: the scan goes on, the node does not rest, and what is refused is named', async (_, refusing) => {
    world = await startRelayWorld()
    await world.chain.mine(300)
    const listening = await world.start({ RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '' })
    await listening.idle()
    const status = async () => (await (await listening.fetch('/status')).json()) as Status
    const unanswered = async (question: string) =>
      Number(
        new RegExp(`^ponte_chain_question_unanswered_seconds\\{[^}]*question="${question}"[^}]*\\} (.*)$`, 'm').exec(
          await (await listening.fetch('/metrics')).text(),
        )?.[1],
      )
    world.proxy.set(refusing(isByRecipient))
    const order = await world.open(listening, { watchFrom: 5 })
    await listening.until(async () => (await unanswered('transfers')) > 1, 'the refused question is not named')
    for (let n = 0; n < 3; n++) {
      await world.chain.mine(1)
      const height = await world.chain.provider.getBlockNumber()
      await listening.until(async () => Number((await listening.cursor())?.scanned_number) >= height, 'the scan does not go on')
      expect((await status()).rpc.map(({ resting }) => resting)).toEqual([null])
    }
    const { rpc, unanswered_s, lag_seconds } = await status()
    expect(rpc[0]?.questions.transfers?.refused).not.toBeNull()
    expect([unanswered_s.head, unanswered_s.logs, await unanswered('head')]).toEqual([0, 0, 0])
    expect(lag_seconds).toBeLessThan(3)
    expect(syncedOf(listening, order.id)).toEqual([])

    world.proxy.set(refusing(call => isByRecipient(call) || isHead(call)))
    await listening.until(async () => ((await status()).lag_seconds ?? 0) >= 3, 'the lag does not grow while the head is refused')
    await listening.until(async () => (await unanswered('head')) >= 2, 'the refused head is not named')

    world.proxy.set()
    await listening.until(() => syncedOf(listening, order.id).length === 1, 'it was never synced', 30_000)
    await listening.until(async () => (await unanswered('transfers')) + (await unanswered('head')) === 0, 'it is still named')
    await listening.until(async () => ((await status()).lag_seconds ?? 9) < 3, 'the lag stays')
  })
})
