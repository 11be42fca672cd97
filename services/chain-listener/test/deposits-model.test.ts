import { parseUsdc } from '@ponte/contracts'
import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { createRandom } from '@ponte/service-kit/testing'
import { TRANSFER_TOPIC, topicOf } from '../src/logs/transfer'
import { startRelayWorld } from './relay/relayer-setup'
import type { Listening } from './setup'

const ACTIONS = Number(process.env.PONTE_CHAIN_ACTIONS ?? 20)
const LIE = `0x${'0'.repeat(60)}beef`
const SEEDS = Array.from({ length: Number(process.env.PONTE_CHAIN_SEEDS ?? 2) }, (_, index) => index + 1)

/** Plays one seed: whatever is sent, mined, reorganised, restarted and broken, what was published must be what the chain has. */
async function play(seed: number) {
  // Small seeds begin alike.
  const random = createRandom(Math.imul(seed, 0x9e3779b1))
  const world = await startRelayWorld({ noMining: true })
  const { chain } = world
  const proxies: FaultProxy[] = [world.proxy]
  for (let more = random.pick([0, 2]); more > 0; more--) proxies.push(await startFaultProxy(chain.rpcUrl))
  const confirmations = random.pick([1, 2, 5])
  const counts = { opened: 0, sent: 0, mined: 0, reorganised: 0, restarted: 0, faults: 0 }
  const orders: { memo: string; address: string }[] = []
  const height = () => chain.provider.getBlockNumber()
  // Never swept, so that what is notified of transfers stands alone.
  const start = () =>
    world.start({
      ...{ RPC_URLS: proxies.map(({ url }) => url).join(), CONFIRMATIONS: String(confirmations), REORG_WINDOW: '40', POLL_MS: '15' },
      ...{ DEPOSIT_MIN_UNITS: '1000000000000', RPC_TIMEOUT_MS: '10000' },
    })
  let listening: Listening = await start()

  const mine = async (blocks: number) => {
    counts.mined += blocks
    await chain.mine(blocks)
  }
  const send = async (address: string) => {
    counts.sent++
    await chain.mintUsdc(address, BigInt(random.between(1, 1e9)))
  }
  const actions = {
    async open() {
      counts.opened++
      orders.push(await world.open(listening, { usdc: '900000.000000', ...(random.chance(0.3) ? { alreadySent: send } : {}) }))
    },
    send: async () => send(random.pick(orders).address),
    mine: () => mine(random.between(1, 4)),
    async reorganise() {
      await mine(1)
      const depth = Math.min(random.between(1, 13), (await height()) - 12)
      if (depth < 1) return
      counts.reorganised++
      await chain.reorg(depth)
      await mine(random.between(1, 3))
    },
    async restart() {
      counts.restarted++
      await listening.stop()
      if (random.chance(0.5)) await actions.send()
      await mine(random.between(1, 51))
      listening = await start()
    },
    async disturb() {
      counts.faults++
      for (const proxy of proxies) proxy.set()
      const proxy = random.pick(proxies)
      const possible: Fault[] = [faults.status(503), faults.hangUp(), faults.truncated(), {}]
      // Of three at most one lies, always the same: the outvoted node is left alone for minutes.
      if (proxies.indexOf(proxy) === 2)
        possible.push(
          faults.emptyLogs(),
          faults.lyingLogs(log => [{ ...log, data: LIE }]),
        )
      proxy.set(random.pick(possible))
    },
  }
  try {
    await chain.mine(12)
    await actions.open()
    for (let n = 0; n < ACTIONS; n++) {
      await random.pick([
        actions.send,
        actions.send,
        actions.send,
        actions.mine,
        actions.mine,
        actions.reorganise,
        actions.open,
        actions.restart,
        actions.disturb,
      ])()
      if (random.chance(0.4)) await mine(1)
      if (random.chance(0.4)) await new Promise(resolve => setTimeout(resolve, random.between(5, 61)))
    }
    for (const proxy of proxies) proxy.set()
    await mine(confirmations + 1)
    const { hash, number = 0 } = (await chain.provider.getBlock('latest')) ?? {}
    await listening.until(async () => (await listening.cursor())?.scanned_hash === hash, 'the head was not scanned', 60_000)
    // Loops that ask every few milliseconds are hardly ever all at rest at one moment where a turn takes long.
    const rest = "SELECT 1 FROM outbox WHERE sent_at IS NULL UNION ALL SELECT 1 FROM coverage WHERE blocks <> '{(,)}'::int8multirange"
    const isDone = async () =>
      Number((await listening.cursor())?.confirmed_number) === number - confirmations + 1 &&
      (await listening.sql.query(rest)).rowCount === 0
    await listening.until(isDone, 'not everything was confirmed and published', 60_000)
    return { confirmations, urls: proxies.length, ...counts, published: publishedOf(listening), truth: await truthOf(world.chain, orders) }
  } finally {
    await world.stop()
    for (const proxy of proxies.slice(1)) await proxy.stop()
  }
}

/** As a reader of the statements knows the chain. */
function publishedOf(listening: Listening): string[] {
  const events = listening.published.payments()
  const last = new Map<string, (typeof events)[number]>()
  for (const event of events) last.set(event.data.payment_id, event)
  const live = [...last.values()].filter(({ type }) => type === 'payment.confirmed')
  return live.map(({ data }) => `${data.tx_hash} ${data.memo} ${parseUsdc(data.amount ?? '')}`).sort()
}

async function truthOf(
  { provider, usdcAddress }: Awaited<ReturnType<typeof startRelayWorld>>['chain'],
  orders: readonly { memo: string; address: string }[],
): Promise<string[]> {
  const memos = new Map(orders.map(({ memo, address }) => [topicOf(address.toLowerCase()), memo]))
  const logs = await provider.getLogs({ address: usdcAddress, topics: [TRANSFER_TOPIC, null, [...memos.keys()]], fromBlock: 0 })
  return logs.map(log => `${log.transactionHash} ${memos.get(log.topics[2] ?? '')} ${BigInt(log.data)}`).sort()
}

describe('invariant 1, for deposits: whatever is sent, mined, reorganised, restarted and broken, what was published is what the chain has', () => {
  it.each(SEEDS)('seed %i', async seed => {
    const { published, truth, ...played } = await play(seed)
    process.stdout.write(`deposits model seed ${seed}: ${JSON.stringify({ ...played, transfers: truth.length })}\n`)
    expect(truth.length).toBeGreaterThan(0)
    expect(published).toEqual(truth)
  })
})
