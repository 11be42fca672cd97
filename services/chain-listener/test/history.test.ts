import { type FaultProxy, startFaultProxy } from '@ponte/local-servers'
import { type Bus, openDatabase, uuidv7 } from '@ponte/service-kit'
import { type RelayWorld, startRelayWorld } from './relay/relayer-setup'
import type { BlocksEvent, Listening } from './setup'

const AMOUNT = 10_000_000n
/** All that a dump of this database would have. */
const TABLES = ['chain_cursor', 'leases', 'coverage', 'blocks', 'payments', 'payables', 'outbox', 'inbox', 'differences']

const PAYMENT_COLUMNS =
  'chain_id, tx_hash, kind, state, router, memo, merchant, payer, amount, fee, deposit, block_number, block_hash, block_time'

let world: RelayWorld
const proxies: FaultProxy[] = []
afterEach(async () => {
  await world.stop()
  for (const proxy of proxies.splice(0)) await proxy.stop()
})

/** The database as it is, loaded back into the same server by the answer. */
async function dump(url: string): Promise<() => Promise<void>> {
  const sql = openDatabase({ url, poolSize: 1 })
  for (const table of TABLES) await sql.query(`CREATE TABLE dumped_${table} AS TABLE ${table}`)
  await sql.stop?.()
  return async () => {
    const back = openDatabase({ url, poolSize: 1 })
    await back.query(
      [...TABLES.map(table => `DELETE FROM ${table}`), ...TABLES.map(table => `INSERT INTO ${table} SELECT * FROM dumped_${table}`)].join(
        ';',
      ),
    )
    await back.stop?.()
  }
}
const publish = (bus: Bus, type: string, data: object) => {
  const id = uuidv7()
  void bus.publish({ id, type, body: JSON.stringify({ id, type, occurred_at: new Date().toISOString(), data, trace: null }) })
}
const blocksOf = ({ published }: Listening) => published.blocks()
const newest = (listening: Listening): BlocksEvent['data'] => {
  const last = blocksOf(listening)
    .toSorted((a, b) => (a.generation < b.generation ? -1 : a.generation > b.generation ? 1 : a.version - b.version))
    .at(-1)
  if (!last) throw new Error('nothing was published')
  return last
}
const follow = (listening: Listening, { chain_id, generation, lease, version }: BlocksEvent['data'], watermark: number | null = null) =>
  publish(listening.bus, 'chain.followed', { chain_id, generation, lease, version, watermark })
/** The last answer in a generation about whether an order is watched, and with what. */
const watchedIn = (listening: Listening, generation: string, orderId: string) =>
  blocksOf(listening)
    .filter(event => event.generation === generation && event.watched.some(({ order_id, through }) => order_id === orderId && through >= 0))
    .at(-1)
const confirmedIn = (listening: Listening, generation: string, memo: string) =>
  blocksOf(listening).some(event => event.generation === generation && event.payments.some(one => one.memo === memo && one.is_confirmed))

describe('fault 1: a database that goes back loses nothing for good, and says so by itself', () => {
  it('a dump loaded into the same server: the leases show a reader that a future is lost, and the echo begins a new generation', async () => {
    world = await startRelayWorld()
    let listening = await world.start()
    const before = await world.open(listening)
    await listening.idle()
    const restore = await dump(listening.databaseUrl)
    // Two seconds in which an order is opened, watched and paid in full.
    const lost = await world.open(listening)
    await listening.until(() => watchedIn(listening, newest(listening).generation, lost.id) !== undefined, 'it was not watched')
    await world.pay(lost.address, AMOUNT)
    await listening.until(() => confirmedIn(listening, newest(listening).generation, lost.memo), 'it was not confirmed')
    await listening.idle()
    const seen = newest(listening)
    await listening.stop()
    await restore()
    listening = await world.start()
    await world.chain.mine(2)
    await listening.until(
      () => newest(listening).lease !== seen.lease || blocksOf(listening).some(({ lease }) => lease !== seen.lease),
      'it does not go on',
    )
    // A reader has seen more of the lease than the database knows: nothing may expire from now on.
    const after = blocksOf(listening).filter(({ lease }) => lease !== seen.lease)
    for (const { generation, earlier } of after) {
      expect(generation).toBe(seen.generation)
      expect(earlier.find(({ lease }) => lease === seen.lease)?.version ?? -1).toBeLessThan(seen.version)
    }
    follow(listening, seen)
    await listening.until(() => newest(listening).generation > seen.generation, 'no generation begins')
    const { generation } = newest(listening)
    // Orders sends what is payable again: nothing else is done by anyone.
    for (const order of [before, lost]) await world.open(listening, { ...order, generation })
    await listening.until(() => [before, lost].every(({ id }) => watchedIn(listening, generation, id)), 'they are not watched again')
    expect(
      watchedIn(listening, generation, lost.id)?.payments.map(({ memo, amount, is_confirmed }) => [memo, amount, is_confirmed]),
    ).toContainEqual([lost.memo, '10.000000', true])
    const ids = blocksOf(listening).flatMap(({ payments }) =>
      payments.filter(({ memo }) => memo === lost.memo).map(one => `${one.block_hash} ${one.log_index}`),
    )
    expect(new Set(ids).size).toBe(1)
  })

  it('another timeline or server begins a generation when the lease is taken, before anything is said', async () => {
    world = await startRelayWorld()
    let listening = await world.start()
    await listening.idle()
    const before = newest(listening)
    await listening.stop()
    const sql = openDatabase({ url: listening.databaseUrl, poolSize: 1 })
    expect((await sql.query<{ server: string }>('SELECT server FROM chain_cursor')).rows[0]?.server).toMatch(/^\d+\/[0-9A-F]{8}$/)
    await sql.query("UPDATE chain_cursor SET server = split_part(server, '/', 1) || '/00000000'")
    await sql.stop?.()
    listening = await world.start()
    await listening.idle()
    const later = blocksOf(listening).filter(({ lease }) => lease !== before.lease)
    expect(later.length).toBeGreaterThan(0)
    for (const { generation, since } of later) expect([generation > before.generation, since]).toEqual([true, before.head + 1])
  })

  it('a generation that is newer than its own begins another, greater than both', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    await listening.idle()
    const ahead = 'ffffffff-ffff-7fff-bfff-ffffffff0000'
    await world.open(listening, { generation: ahead })
    await listening.until(() => newest(listening).generation > ahead, 'no generation begins')
  })

  it('what is known stays: an echo of the past, and of now, begins nothing', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    await listening.idle()
    const first = newest(listening)
    follow(listening, first)
    await world.chain.mine(1)
    follow(listening, { ...first, generation: '00000000-0000-7000-8000-000000000000' })
    await listening.idle()
    expect(new Set(blocksOf(listening).map(({ generation }) => generation)).size).toBe(1)
  })

  it('a step that was decided on a database that is gone changes nothing, and the scan reads it anew', async () => {
    world = await startRelayWorld()
    const listening = await world.start()
    const order = await world.open(listening)
    await listening.idle()
    // As after a fail-over that lost the newest commits, while the leader still has them in memory.
    await listening.sql.query('UPDATE chain_cursor SET version = version - 1')
    await world.pay(order.address, AMOUNT)
    await listening.until(() => confirmedIn(listening, newest(listening).generation, order.memo), 'the scan does not go on')
    const leases = new Set(blocksOf(listening).map(({ lease }) => lease))
    expect(leases.size).toBe(2)
  })
})

it('orders that fell behind gets the confirmed blocks once more, with all their payments', async () => {
  world = await startRelayWorld()
  const listening = await world.start()
  const order = await world.open(listening)
  await listening.idle()
  await world.pay(order.address, AMOUNT)
  await listening.until(() => confirmedIn(listening, newest(listening).generation, order.memo), 'it was not confirmed')
  await listening.idle()
  const known = newest(listening)
  const said = () =>
    blocksOf(listening).filter(({ advanced, payments }) => advanced && payments.some(({ memo }) => memo === order.memo)).length
  expect(said()).toBe(1)
  // The first echo only notes how far the chain was; a reader that is still behind at the next has lost something.
  follow(listening, known, known.since - 1)
  await listening.idle()
  await world.chain.mine(1)
  follow(listening, known, known.since - 1)
  await listening.until(() => said() === 2, 'it is not published again')
})

it('orders that lost what it had learnt once of signatures and of blocked deposits learns it again, in the same revision', async () => {
  world = await startRelayWorld()
  const listening = await world.start()
  const order = await world.open(listening)
  await listening.idle()
  await listening.sql.query(
    "UPDATE payables SET blocked_reason = 'sweep_refused', blocked_revision = 3, blocked_published = 3 WHERE order_id = $1",
    [order.id],
  )
  await listening.sql.query(
    `INSERT INTO authorizations (chain_id, memo, payer, salt, attempt, order_id, merchant, router, units, valid_after, valid_before, signature, state, order_attempt, revision, published)
     SELECT chain_id, memo, merchant, repeat('0', 64), 0, order_id, merchant, router, 10, 0, 1, '0x', 'paid', 0, 2, 2 FROM payables WHERE order_id = $1`,
    [order.id],
  )
  const learnt = () =>
    listening.published.events.flatMap(({ type, data }) =>
      (type === 'deposit.blocked' || type === 'authorization.changed') && data.order_id === order.id ? [`${type} ${data.revision}`] : [],
    )
  const histories = () =>
    listening.published.events.flatMap(({ type, data }) =>
      type === 'deposit.blocked' || type === 'authorization.changed' ? [data.generation] : [],
    )
  const known = newest(listening)
  follow(listening, known, known.since - 1)
  await listening.idle()
  expect(learnt()).toEqual([])
  await world.chain.mine(1)
  follow(listening, known, known.since - 1)
  await listening.until(() => learnt().length === 2, 'it is not published again')
  expect(learnt().toSorted()).toEqual(['authorization.changed 2', 'deposit.blocked 3'])
  expect(histories()).toEqual([known.generation, known.generation])
  // The history before counts no longer at orders.
  await world.open(listening, { ...order, generation: uuidv7() })
  await listening.until(() => learnt().length === 4, 'it is not published in the history that begins')
  expect(learnt().slice(2).toSorted()).toEqual(['authorization.changed 2', 'deposit.blocked 3'])
  expect(
    histories()
      .slice(2)
      .every(generation => generation !== undefined && generation > known.generation),
  ).toBe(true)
})

it('a first block that is larger than a page is published once more whole, and what follows it is not left out', async () => {
  world = await startRelayWorld()
  const listening = await world.start({ RECONCILE_EVERY_S: '3600', RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '' })
  const [full, next] = [await world.open(listening), await world.open(listening)]
  await listening.idle()
  for (const order of [full, next]) {
    await world.pay(order.address, AMOUNT)
    await listening.until(() => confirmedIn(listening, newest(listening).generation, order.memo), 'it was not confirmed')
  }
  await listening.idle()
  await listening.sql.query(
    `INSERT INTO payments (${PAYMENT_COLUMNS}, log_index) SELECT ${PAYMENT_COLUMNS}, 1000 + n FROM payments, generate_series(1, 3200) AS n WHERE memo = $1`,
    [full.memo],
  )
  const known = newest(listening)
  const again = () =>
    blocksOf(listening).filter(({ advanced, version }) => advanced && advanced.from <= known.head && version > known.version)
  follow(listening, known, known.since - 1)
  await listening.idle()
  follow(listening, known, known.since - 1)
  await listening.until(() => again().some(({ advanced }) => (advanced?.to ?? 0) >= known.head), 'it is not published again')
  await listening.idle()
  const rows = await listening.payments()
  for (const { advanced, payments } of again()) {
    const inRange = rows.filter(({ block_number: block }) => Number(block) >= (advanced?.from ?? 0) && Number(block) <= (advanced?.to ?? 0))
    expect(payments.length).toBe(inRange.length)
  }
  expect(again().flatMap(({ payments }) => payments).length).toBe(rows.length)
})

it('faults 10 and 11: a node that gives no earlier blocks, slowly, holds up no new one', async () => {
  world = await startRelayWorld()
  await world.chain.mine(400)
  const slow = await startFaultProxy(world.chain.rpcUrl)
  proxies.push(slow)
  const listening = await world.start({
    START_BLOCK: '390',
    RPC_URLS: slow.url,
    RPC_TIMEOUT_MS: '10000',
    POLL_MS: '1000',
    RELAYER_PRIVATE_KEY: '',
    GASLESS_PRIVATE_KEY: '',
  })
  await listening.until(async () => (await listening.cursor())?.scanned_number != null, 'it never began')
  await listening.sql.query('UPDATE chain_cursor SET start_block = 0')
  // A backlog is answered late, by a node that would be given up only later.
  const isOld = (filter: unknown) => {
    const { fromBlock } = Object(filter) as { fromBlock?: string }
    return fromBlock !== undefined && Number(fromBlock) < 390
  }
  slow.set({
    async whole(calls) {
      const isBacklog = calls.some(({ method, params }) => method === 'eth_getLogs' && isOld(params[0]))
      if (isBacklog) await new Promise(resolve => setTimeout(resolve, 9_000))
      return false
    },
  })
  await listening.sql.query('UPDATE chain_cursor SET epoch = epoch + 1')
  await world.open(listening, { watchFrom: 1 })
  for (let n = 0; n < 3; n++) {
    const from = performance.now()
    await world.chain.mine(1)
    const height = await world.chain.provider.getBlockNumber()
    await listening.until(async () => Number((await listening.cursor())?.scanned_number) >= height, 'the head waits for a backlog')
    expect(performance.now() - from).toBeLessThan(8_000)
  }
})
