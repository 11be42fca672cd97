import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openDatabase, silentLogger, until } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { openStore } from '../src/store'
import { LeaseLostError } from '../src/store/lease'
import { type Chain, memoOf, startChain } from './chain'
import { startListener, TOKEN } from './setup'

// Long enough that a busy machine does not look like a frozen process.
const SILENCE_MS = 2_500
const CUT_LOCK = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7210 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
const count = (reported: readonly string[], text: string) => reported.join('').split(text).length - 1
const leads = (replica: { times(): number; losses(): number }) => replica.times() > replica.losses()
/** From its sources, so that a test never runs an old build. */
const loader = join(__dirname, 'run-from-source.cjs')
const main = join(__dirname, '../src/main.ts')

describe('several replicas of the listener', () => {
  let chain: Chain
  let database: Awaited<ReturnType<typeof testDatabase>>
  let sql: ReturnType<typeof openDatabase>
  const children: ChildProcess[] = []

  beforeEach(async () => {
    chain = await startChain()
    database = await testDatabase(chainListenerMigrations)
    sql = openDatabase({ url: database.url, poolSize: 2 })
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
    }
    await sql.stop?.()
    await database.drop()
    await chain.stop()
  })

  const settings = () => ({
    DATABASE_URL: database.url,
    // Nothing listens there: what is published stays in the outbox, where it is counted.
    AMQP_URL: 'amqp://127.0.0.1:1',
    HOST: '127.0.0.1',
    OPS_PORT: '0',
    CHAIN_ID: '31337',
    RPC_URLS: chain.anvil.rpcUrl,
    ROUTER_ADDRESSES: chain.emitter,
    TOKEN_ADDRESS: TOKEN,
    DEVELOPMENT_CHAIN: 'true',
    PONTE_MODE: 'development',
    BLOCK_TIME_AHEAD_MAX_S: '31536000',
    VERIFY_DEPLOYMENT: 'false',
    CONFIRMATIONS: '1',
    POLL_MS: '20',
    LEADER_SILENCE_MS: String(SILENCE_MS),
    LOG_LEVEL: 'info',
  })
  /** A replica as a process of its own; `reported` collects its log. */
  const replica = () => {
    const child = spawn(process.execPath, ['--require', loader, main], {
      env: { PATH: process.env.PATH, ...settings() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const reported: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => reported.push(String(chunk)))
    children.push(child)
    return {
      child,
      reported: () => reported.join(''),
      times: () => count(reported, 'this replica leads'),
      losses: () => count(reported, 'does not lead any more'),
      started: () =>
        until(
          () => reported.join('').includes('"started"'),
          () => `this replica never started:\n${reported.join('')}`,
        ),
      leads: () =>
        until(
          () => reported.join('').includes('this replica leads'),
          () => `this replica never led:\n${reported.join('')}`,
        ),
      kill: (signal: NodeJS.Signals) => child.kill(signal),
      gone: () => once(child, 'exit'),
    }
  }
  let paid = 0
  const pay = async () => {
    await chain.pay([{ memo: memoOf(++paid) }])
    await chain.mine()
  }
  const scanned = async () => {
    const { rows } = await sql.query<{ n: string | null; epoch: string }>(
      'SELECT scanned_number::text AS n, epoch::text AS epoch FROM chain_cursor',
    )
    return { number: Number(rows[0]?.n ?? -1), epoch: Number(rows[0]?.epoch ?? 0) }
  }
  const level = async () => {
    const height = await chain.height()
    await until(async () => (await scanned()).number === height, `block ${height} was never scanned`, 15_000)
  }
  /** No version is of two steps, and every payment is published once: two writers would have broken it. */
  const expectOneLine = async () => {
    const { rows } = await sql.query<{ version: number; lease: string; memos: string[] }>(
      `SELECT (body::jsonb #>> '{data,version}')::int AS version, body::jsonb #>> '{data,lease}' AS lease,
         ARRAY(SELECT payment ->> 'memo' FROM jsonb_array_elements(body::jsonb #> '{data,payments}') AS payment) AS memos
       FROM outbox WHERE type = 'chain.blocks' ORDER BY 1`,
    )
    const leases = new Map<number, Set<string>>()
    for (const { version, lease } of rows) leases.set(version, new Set([...(leases.get(version) ?? []), lease]))
    expect([...leases.values()].every(({ size }) => size === 1)).toBe(true)
    const payments = await sql.query<{ memo: string }>('SELECT memo FROM payments')
    expect(payments.rows.map(row => row.memo).toSorted()).toEqual((await chain.truth(await chain.height())).map(one => one.memo).toSorted())
    expect(rows.flatMap(({ memos }) => memos).toSorted()).toEqual(payments.rows.map(row => row.memo).toSorted())
  }

  /** One story, because each replica is a process that takes a while to start. */
  it('one scans, whichever is cut off, frozen, stopped or killed, and no block is published by two', async () => {
    const first = replica()
    await first.leads()
    const second = replica()
    await second.started()
    await pay()
    await level()

    // The lock's connection is cut: the active one stops by itself; the next leader goes on where it was.
    await sql.query(CUT_LOCK)
    await until(() => first.reported().includes('does not lead any more'), 'the active one never noticed that its connection is gone')
    for (let n = 0; n < 3; n++) await pay()
    await level()

    // Frozen past its lock, with work at hand: the standby takes over, and the frozen one writes nothing when it wakes up.
    await until(() => leads(first) !== leads(second), 'it is not certain who leads')
    const [active, standby] = leads(first) ? [first, second] : [second, first]
    await pay()
    active.kill('SIGSTOP')
    const led = standby.times()
    await until(() => standby.times() > led, 'the standby never took over from the frozen one')
    await level()
    const { epoch } = await scanned()
    const lost = active.losses()
    active.kill('SIGCONT')
    for (let n = 0; n < 2; n++) await pay()
    await until(
      () => active.losses() > lost,
      () => `the frozen one never noticed:\n${active.reported()}`,
    )
    await level()
    expect((await scanned()).epoch).toBe(epoch)

    // Stopped in order: the lead is given away at once.
    const before = active.times()
    standby.kill('SIGTERM')
    const [code] = await standby.gone()
    expect(code).toBe(0)
    await until(() => active.times() > before, 'no one took over from the one that was stopped')
    await pay()
    await level()

    // Killed: a standby leads within 10 s.
    const third = replica()
    await third.started()
    active.kill('SIGKILL')
    const killedAt = Date.now()
    await pay()
    await level()
    expect(Date.now() - killedAt).toBeLessThan(10_000)
    expect(third.times()).toBe(1)
    await expectOneLine()
  })

  it('a write under an old epoch changes nothing at all', async () => {
    const store = openStore(sql, 31_337, () => new Date())
    const old = await store.generation.takeLease(0)
    await store.position.anchor(old, undefined, 0, null)
    const cursor = await store.position.find()
    if (!cursor) throw new Error('no cursor')
    await store.generation.takeLease(0)
    const blocks = [{ number: 0, hash: '0xa', parentHash: '0xb', time: 1 }]
    const step = { cursor: { ...cursor, version: cursor.version + 1 }, head: 1, blocks, payments: [], events: [] }
    await expect(store.commit(old, step)).rejects.toThrow(LeaseLostError)
    expect(await store.position.find()).toEqual(cursor)
    expect(await store.position.remembered(10)).toEqual([])
  })

  it('two in one process never both lead, and together they publish every payment once', async () => {
    const env = { LEADER_SILENCE_MS: '500' }
    const one = await startListener({
      rpcUrls: chain.anvil.rpcUrl,
      router: chain.emitter,
      databaseUrl: database.url,
      env,
      given: { logger: silentLogger },
    })
    const two = await startListener({
      rpcUrls: chain.anvil.rpcUrl,
      router: chain.emitter,
      databaseUrl: database.url,
      env,
      given: { logger: silentLogger },
    })
    const roles = async () => (await Promise.all([one.listener.status(), two.listener.status()])).map(({ role }) => role).toSorted()
    // A process that is held up for longer than the silence gives the lead away, and takes it again.
    await until(async () => (await roles()).includes('leader'), 'neither of them leads')
    expect(await roles()).toEqual(['leader', 'standby'])
    await pay()
    await level()
    await one.stop()
    await pay()
    await level()
    expect((await two.listener.status()).role).toBe('leader')
    await two.idle()
    await two.stop()
    await expectOneLine()
  })
})
