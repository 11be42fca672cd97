import { topology } from '@ponte/contracts'
import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { memoryBus, openDatabase, silentLogger } from '@ponte/service-kit'
import { createRandom, type Random, testDatabase } from '@ponte/service-kit/testing'
import { chainListenerMigrations } from '../src'
import { type Chain, memoOf, type Record, startChain } from './chain'
import { expectTruth, levelWith } from './expect-truth'
import { collector, type Listening, startListener } from './setup'

const ACTIONS = Number(process.env.PONTE_CHAIN_ACTIONS ?? 24)
const SEEDS = process.env.PONTE_CHAIN_SEED
  ? [Number(process.env.PONTE_CHAIN_SEED)]
  : Array.from({ length: Number(process.env.PONTE_CHAIN_SEEDS ?? 5) }, (_, index) => index + 1)

/** A wrong answer leaves out, invents, alters, moves times, answers for another block, or states one thing in two ways. */
const changed = (log: object) => ({ ...log, data: `0x${'0'.repeat(58)}eeeeee${'0'.repeat(64)}` })
const lies: Fault[] = [
  faults.emptyLogs(),
  faults.omittedLogs(),
  faults.lyingLogs(log => [changed(log)]),
  faults.lyingLogs(log => [log, { ...log, logIndex: '0x99', transactionHash: `0x${'77'.repeat(32)}` }]),
  faults.lyingLogs(log => [{ ...log, blockTimestamp: '0x1' }]),
  faults.movedTime(60),
  faults.lyingReceipts(() => []),
  faults.together(
    faults.lyingLogs(log => [changed(log)]),
    faults.lyingReceipts(receipts => receipts.map(one => ({ ...one, logs: (one.logs as object[]).map(changed) }))),
  ),
  faults.lyingHeaders(header => ({ ...header, logsBloom: `0x${'f'.repeat(512)}` })),
]

/** Longer than any node is left alone, whatever it did. */
const REST_MS = 600_000

interface Sent {
  raw: string
  account: number
  nonce: number
  records: Record[]
  block: number
}

/** Plays one seed: whatever is mined, reorganised, paid, restarted and broken, the listener must end up with the chain. */
async function play(seed: number) {
  // Small seeds begin alike: four of the first five would have one node.
  const random = createRandom(Math.imul(seed, 0x9e3779b1))
  const chain = await startChain()
  const proxies = [
    await startFaultProxy(chain.anvil.rpcUrl),
    await startFaultProxy(chain.anvil.rpcUrl),
    await startFaultProxy(chain.anvil.rpcUrl),
  ]
  const database = await testDatabase(chainListenerMigrations)
  const game = createGame({ random, chain, proxies, databaseUrl: database.url })
  try {
    await chain.mine(40)
    await game.start()
    for (let n = 0; n < ACTIONS; n++) await game.act()
    return await game.finish()
  } finally {
    await game.stop()
    await database.drop()
    for (const proxy of proxies) await proxy.stop()
    await chain.stop()
  }
}

function createGame({ random, chain, proxies, databaseUrl }: { random: Random; chain: Chain; proxies: FaultProxy[]; databaseUrl: string }) {
  const confirmations = random.pick([1, 2, 5, 12])
  const urls = proxies.slice(0, random.pick([1, 2, 3])).map(proxy => proxy.url)
  const window = random.pick([32, 40])
  const proof = random.pick(['voted', 'proven'])
  const bus = memoryBus({ topology, logger: silentLogger })
  const sql = openDatabase({ url: databaseUrl, poolSize: 1 })
  const counts = { paid: 0, mined: 0, reorganised: 0, restarted: 0, faults: 0, lies: 0, cut: 0 }
  const sent: Sent[] = []
  let memo = 0
  let highest = 0
  let ahead = 0
  let listening: Listening

  const records = (): Record[] =>
    Array.from({ length: random.between(1, 4) }, () => ({
      // Now and then a memo is paid again.
      memo: memoOf(random.chance(0.2) && memo > 0 ? random.between(1, memo + 1) : ++memo),
      share: BigInt(random.between(1, 1e9)),
      ...(random.chance(0.3) ? { parity: random.pick(['even', 'odd'] as const) } : {}),
    }))
  const broadcast = async (one: Sent) => {
    await chain.broadcast(one.raw)
    sent.push(one)
  }
  const pay = async () => {
    const account = random.between(1, 7)
    const nonce = await chain.nonce(account)
    const paid = records()
    counts.paid += paid.length
    await broadcast({ raw: await chain.sign(paid, account, nonce), account, nonce, records: paid, block: (await chain.height()) + 1 })
  }
  const mine = async (blocks: number) => {
    counts.mined += blocks
    await chain.mine(blocks)
    highest = Math.max(highest, await chain.height())
  }
  /** Takes the last blocks away; what was in them comes back, comes back later, is replaced, or is gone. */
  const reorganise = async () => {
    await mine(1)
    const height = await chain.height()
    // A reorganisation lies within the listener's window, and the emitter stays.
    const depth = Math.min(random.between(1, 31), height - 8, height - (highest - window) - 2)
    if (depth < 1) return
    counts.reorganised++
    await chain.rollback(depth)
    const gone = sent.filter(one => one.block > height - depth).sort((a, b) => a.nonce - b.nonce)
    for (const one of gone) sent.splice(sent.indexOf(one), 1)
    if (random.chance(0.5)) await mine(random.between(1, 4))
    for (const one of gone) {
      if ((await chain.nonce(one.account)) !== one.nonce || random.chance(0.25)) continue
      const again = random.chance(0.3) ? { ...one, records: [{ ...one.records[0], share: 7n }] as Record[] } : one
      const raw = again === one ? one.raw : await chain.sign(again.records, one.account, one.nonce)
      await broadcast({ ...again, raw, block: (await chain.height()) + 1 })
      if (random.chance(0.5)) await mine(1)
    }
    await mine(random.between(1, depth + 4))
  }
  const restart = async () => {
    counts.restarted++
    await listening.stop()
    if (random.chance(0.4)) await mine(random.between(1, 61))
    await start()
  }
  /** Ends the service's connections in the middle of whatever it does. */
  const cut = async () => {
    counts.cut++
    await sql.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'chain-listener'",
    )
  }
  const disturb = () => {
    counts.faults++
    const height = random.between(1, 41)
    const possible: Fault[] = [
      faults.status(429, 'Too Many Requests'),
      faults.status(503),
      faults.hangUp(),
      faults.truncated(),
      faults.missingAnswers(),
      faults.wrongChain(1),
      faults.tooManyLogs(1, -32005, 'query returned more than 10000 results'),
      faults.tooManyBlocks(2, -32614, 'eth_getLogs is limited to a 2 range'),
      faults.lagging(() => height),
      {},
    ]
    for (const proxy of proxies) proxy.set()
    const liar = random.pick(proxies.slice(0, urls.length))
    // One alone can leave out what no other shows.
    if (random.chance(0.5) || urls.length === 1) return liar.set(random.pick(possible))
    counts.lies++
    liar.set(random.pick(lies))
  }
  const start = async () => {
    listening = await startListener({
      rpcUrls: urls,
      router: chain.emitter,
      databaseUrl,
      env: {
        CONFIRMATIONS: String(confirmations),
        REORG_WINDOW: String(window),
        BLOCK_PROOF: proof,
        POLL_MS: '15',
        RPC_TIMEOUT_MS: '400',
        HEAD_STALL_MS: '300',
        LEADER_SILENCE_MS: '500',
      },
      given: { bus, published, clock: () => performance.now() + ahead },
    })
  }
  const published = collector(bus)
  return {
    start,
    async act() {
      const action = random.pick([
        pay,
        pay,
        pay,
        () => mine(random.between(1, 5)),
        () => mine(1),
        reorganise,
        restart,
        cut,
        disturb,
        disturb,
      ])
      await action()
      if (random.chance(0.4)) await mine(1)
      // Sometimes the listener gets the time to see what is about to go.
      if (random.chance(0.3)) await new Promise(resolve => setTimeout(resolve, random.between(5, 61)))
    },
    async finish() {
      for (const proxy of proxies) proxy.set()
      // Nodes that all answered for another chain, one after the other, are left alone for a minute.
      ahead = REST_MS
      await mine(Math.max(1, highest - (await chain.height())) + confirmations)
      await levelWith(chain, listening)
      const result = await expectTruth(chain, listening, confirmations, { exactly: true })
      return { confirmations, urls: urls.length, proof, window, ...counts, ...result }
    },
    async stop() {
      await listening?.stop()
      await sql.stop?.()
    },
  }
}

describe('invariant 1: whatever is mined, reorganised, paid, restarted and broken, the confirmed payments are those of the chain', () => {
  it.each(SEEDS)('seed %i', async seed => {
    const played = await play(seed)
    process.stdout.write(`model seed ${seed}: ${JSON.stringify(played)}\n`)
    expect(played.events).toBeGreaterThan(0)
  })
})
