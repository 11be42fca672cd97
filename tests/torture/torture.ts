import type { LocalChain } from '@ponte/local-servers'
import { deployRouter } from '@ponte/payment-router'
import { every, silentLogger } from '@ponte/service-kit'
import { createRandom, type Random } from '@ponte/service-kit/testing'
import { chainIdsOf, createExpiryWatch, startWorld } from '../world'
import { audit } from './audit'
import { chainRecord } from './audit/chain-record'
import { startCluster, startServers } from './cluster'
import { createDeck, type Fault, faultsOf } from './faults'
import { type Books, type Ledger, listenersOf, openLedger, otherListener, publishersOf } from './ledger'
import { startMiner } from './miner'
import { untilQuiet } from './quiet'
import { payoutsOf } from './steps'
import { startTraffic } from './traffic'

export interface Outcome {
  seed: number
  faults: Record<string, number>
  counts: Record<string, number>
  payments: number
  webhooks: number
  differences: string[]
}

export interface TortureOptions {
  seed: number
  seconds: number
  /** Chains that orders may be paid on; one unless given. */
  networks?: number
  /** The longest time between two faults. */
  pauseMs?: number
  report?: (line: string) => void
  /** Where the services' logs are kept, to find out why. */
  logFolder?: string | undefined
  /** For the proof that the audit can see: is given the books, once everything is quiet and audited, to harm them and to audit again. */
  inspect?: (books: { ledger: Ledger; auditAgain: () => Promise<string[]> }) => Promise<void>
}

const CONFIRMATIONS = 3
const EXPIRY_LOOK_MS = 500
const REORG_DEPTH_MAX = 5
/** For each network: orders takes in the blocks of all of them. */
const QUIET_TIMEOUT_MS = 240_000

/** Drives merchants and payers against two replicas of everything while it breaks things by a seeded schedule; then heals, waits and audits. */
export async function torture({
  seed,
  seconds,
  networks = 1,
  pauseMs = 2_500,
  report = () => undefined,
  logFolder,
  inspect,
}: TortureOptions): Promise<Outcome> {
  const stops: (() => Promise<unknown>)[] = []
  const started = <T extends { stop(): Promise<unknown> }>(one: T): T => {
    stops.push(one.stop)
    return one
  }
  try {
    const random = createRandom(seed)
    const [chainId, ...otherIds] = chainIdsOf(networks)
    const servers = started(await startServers(otherIds))
    const amqp = { url: servers.broker.url, namespace: 'ponte' }
    const { url: databaseUrl } = servers.postgres
    const databases = { databaseUrl, otherDatabaseUrl: (of: number) => databaseUrl(otherListener(of)) }
    const otherChains = otherIds.map(of => ({ chainId: of, noMining: true }))
    const chain = { chainId, noMining: true }
    const world = started(await startWorld({ confirmations: CONFIRMATIONS, chain, otherChains, amqp, ...databases }))
    const others = world.otherChains
    const chains = [world.chain, ...others] as const
    const mine = async (of: LocalChain) => started(await startMiner(of, world.logger()))
    const miners = [await mine(world.chain), ...(await Promise.all(others.map(mine)))] as const
    const mineAll = (blocks: number) => Promise.all(miners.map(miner => miner.mine(blocks)))
    const otherRouter = await secondRouter(world.chain)
    for (const other of others)
      if ((await secondRouter(other)) !== otherRouter) throw new Error('The second router has another address on the other chain.')
    const routers = [world.chain.routerAddress, otherRouter]
    const ledger = started(
      openLedger(
        databaseUrl,
        otherIds.map(of => [otherListener(of), databases.otherDatabaseUrl(of)] as const),
      ),
    )
    const cluster = started(await startCluster(world, { routers, logFolder }))
    const traffic = started(await startTraffic({ world, chains, cluster, otherRouter, seed }))
    report('everything is up')
    await mineAll(REORG_DEPTH_MAX + 1)

    const stopTraffic = new AbortController()
    const running = traffic.run(stopTraffic.signal)
    const [listeners, publishers] = [listenersOf(world), publishersOf(world)]
    const expiry = watchExpiry(ledger, chains, listeners)
    const looking = every('expiry', EXPIRY_LOOK_MS, expiry.look, silentLogger)
    started({ stop: async () => looking.stop?.() })
    await looking.start?.()
    const depths = { confirmations: CONFIRMATIONS, reorgDepthMax: REORG_DEPTH_MAX }
    const harmed = { chains, miners, listeners, publishers, servers, cluster, ledger, traffic, random, ...depths }
    const fitting = faultsOf(harmed).filter(({ leastSeconds = 0 }) => seconds >= leastSeconds)
    const faults = await breakThings(fitting, { seconds, pauseMs, random, report })
    stopTraffic.abort()
    await cluster.heal()
    await running
    report('healed; waiting until everything has arrived')
    await mineAll(CONFIRMATIONS + 1)
    await Promise.all(miners.map(miner => miner.slowDown()))
    await untilQuiet(world, ledger, QUIET_TIMEOUT_MS * networks)
    report('quiet; auditing')
    const audited = { chains, listeners, routers, cluster, servers, ledger, traffic }
    const differences = [...expiry.wrong, ...(await audit(audited))]
    await inspect?.({ ledger, auditAgain: () => audit(audited) })
    const payments = (await chainRecord(audited)).payments.length
    const webhooks = traffic.merchants.reduce((sum, { receiver }) => sum + receiver.counts.received, 0)
    const happened = networks > 1 ? await countNetworks(ledger, audited) : {}
    const counts = { ...traffic.counts, 'expired orders judged': expiry.judged() }
    return { seed, faults: { ...faults, ...happened }, counts, payments, webhooks, differences }
  } finally {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
  }
}

function watchExpiry(ledger: Ledger, chains: readonly LocalChain[], listeners: readonly Books[]) {
  const watched = chains.map(({ chainId, provider }, at) => ({
    chainId,
    confirmedTime: async () => (await provider.getBlock((await provider.getBlockNumber()) - CONFIRMATIONS + 1))?.timestamp ?? 0,
    async readTime() {
      const [row] = await ledger.query(
        listeners[at] ?? 'chain-listener',
        'SELECT extract(epoch FROM confirmed_time) AS at FROM chain_cursor',
      )
      return Number(row?.at ?? 0)
    },
  }))
  return createExpiryWatch((sql, values) => ledger.query('orders', sql, values), watched)
}

const ON_SEVERAL = `
  SELECT count(*) AS paid, count(*) FILTER (WHERE exception = 'duplicate') AS doubled FROM orders
  WHERE status = 'paid' AND (SELECT count(DISTINCT split_part(id, ':', 1)) FROM payments WHERE order_id = orders.id AND payments.status = 'confirmed') > 1`
const UNOFFERED = `
  SELECT count(*) AS n FROM orders WHERE networks @> '[{"isOffered":false}]'`

/** Counted where several networks had a part in it at once. */
async function countNetworks(ledger: Ledger, audited: Parameters<typeof audit>[0]): Promise<Record<string, number>> {
  const [several] = await ledger.query('orders', ON_SEVERAL)
  const [unoffered] = await ledger.query('orders', UNOFFERED)
  const { payments, sweeps } = await chainRecord(audited)
  const own = audited.traffic.merchants.flatMap(merchant => payoutsOf(merchant).slice(1))
  const swept = audited.chains.map(chain => [`sweeps on ${chain.chainId}`, sweeps.filter(sweep => sweep.chain === chain).length])
  return {
    'orders paid on several networks': Number(several?.paid),
    'duplicates across networks': Number(several?.doubled),
    'orders that offer fewer networks': Number(unoffered?.n),
    'payments to the address of one network': payments.filter(({ merchant }) => own.includes(merchant)).length,
    'sweeps to the address of one network': sweeps.filter(({ merchant }) => own.includes(merchant)).length,
    ...Object.fromEntries(swept),
  }
}

const secondRouter = async (chain: LocalChain) =>
  deployRouter(await chain.provider.getSigner(0), {
    usdcAddress: chain.usdcAddress,
    feeBps: chain.feeBps,
    feeReceiver: chain.feeReceiver,
  })

const FAULT_MS = [300, 4_000] as const
const PAUSE_MS_MIN = 100
const END_TRIES = 60

/** Every fault once in a random order, and again, until the time is over. One that still lasts, or is not possible now, comes first in the next round. */
async function breakThings(
  faults: readonly Fault[],
  { seconds, pauseMs, random, report }: { seconds: number; pauseMs: number; random: Random; report: (line: string) => void },
): Promise<Record<string, number>> {
  const struck: Record<string, number> = Object.fromEntries(faults.map(({ name }) => [name, 0]))
  const lasting = new Map<string, Promise<void>>()
  const deadline = Date.now() + seconds * 1000
  const deck = createDeck(faults, random)
  while (Date.now() < deadline) {
    const fault = deck.draw()
    if (lasting.has(fault.name)) {
      deck.putBack(fault)
      await pause(PAUSE_MS_MIN)
      continue
    }
    const lastsMs = Math.min(random.between(...(fault.lastsMs ?? FAULT_MS)), Math.max(0, deadline - Date.now()))
    try {
      const end = await fault.strike()
      struck[fault.name] = (struck[fault.name] ?? 0) + 1
      report(end ? `${fault.name} for ${lastsMs} ms` : fault.name)
      if (end)
        lasting.set(
          fault.name,
          pause(lastsMs)
            .then(() => finish(end))
            .finally(() => lasting.delete(fault.name)),
        )
    } catch (error) {
      // The fault needs a part that is broken already.
      deck.putBack(fault)
      report(`${fault.name} is not possible now: ${error instanceof Error ? error.message : error}`)
    }
    await pause(random.between(PAUSE_MS_MIN, pauseMs))
  }
  await Promise.all(lasting.values())
  return struck
}

/** Ends a fault, as soon as what that needs is there again. */
async function finish(end: () => Promise<void> | void): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await end()
    } catch (error) {
      if (tries === END_TRIES) throw error
      await pause(500)
    }
  }
}

const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
