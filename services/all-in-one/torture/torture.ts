import { startWorld } from '../test/system'
import { audit } from './audit'
import { startCluster } from './cluster'
import { type Fault, faultsOf } from './faults'
import { type Ledger, openLedger } from './ledger'
import { untilQuiet } from './quiet'
import { createRandom } from './random'
import { startTraffic } from './traffic'

export interface Outcome {
  seed: number
  faults: Record<string, number>
  counts: Record<string, number>
  webhooks: number
  differences: string[]
}

export interface TortureOptions {
  seed: number
  seconds: number
  amqp: { url: string; namespace: string }
  tell?: (line: string) => void
  /** For the proof that the audit can see: is given the books, once everything is quiet and audited, to harm them and to audit again. */
  inspect?: (books: { ledger: Ledger; auditAgain: () => Promise<string[]> }) => Promise<void>
}

const CONFIRMATIONS = 3
const REORG_DEPTH_MAX = 5
const QUIET_TIMEOUT_MS = 180_000

/** Drives merchants and payers against two replicas of everything while it breaks things by a seeded schedule; then heals, waits and audits. */
export async function torture({ seed, seconds, amqp, tell = () => undefined, inspect }: TortureOptions): Promise<Outcome> {
  const random = createRandom(seed)
  const world = await startWorld({ confirmations: CONFIRMATIONS, amqp })
  const ledger = openLedger(world, { reorgDepthMax: REORG_DEPTH_MAX })
  const cluster = await startCluster(world)
  const traffic = await startTraffic(world, cluster, random)
  try {
    await world.chain.mine(REORG_DEPTH_MAX + 1)
    const stopTraffic = new AbortController()
    const running = traffic.run(stopTraffic.signal)
    const faults = await breakThings(faultsOf(world, cluster, ledger, traffic, random), { seconds, random, tell })
    stopTraffic.abort()
    await cluster.heal()
    await running
    tell('healed; waiting until everything has arrived')
    await world.chain.mine(CONFIRMATIONS + 1)
    await untilQuiet(world, ledger, QUIET_TIMEOUT_MS)
    const auditAgain = () => audit(world, cluster, ledger, traffic)
    const differences = await auditAgain()
    await inspect?.({ ledger, auditAgain })
    const webhooks = traffic.merchants.reduce((sum, { receiver }) => sum + receiver.received.length, 0)
    return { seed, faults, counts: traffic.counts, webhooks, differences }
  } finally {
    await cluster.stop()
    await traffic.stop()
    await ledger.stop()
    await world.stop()
  }
}

async function breakThings(
  faults: readonly Fault[],
  { seconds, random, tell }: { seconds: number; random: ReturnType<typeof createRandom>; tell: (line: string) => void },
): Promise<Record<string, number>> {
  const struck: Record<string, number> = {}
  const ending: Promise<void>[] = []
  const deadline = Date.now() + seconds * 1000
  while (Date.now() < deadline) {
    const fault = random.pick(faults)
    const lastsMs = random.between(300, 4_000)
    struck[fault.name] = (struck[fault.name] ?? 0) + 1
    tell(`${fault.name} for ${lastsMs} ms`)
    const end = await fault.strike()
    if (end) ending.push(new Promise<void>(resolve => setTimeout(resolve, lastsMs)).then(end))
    await new Promise(resolve => setTimeout(resolve, random.between(200, 1_500)))
  }
  await Promise.all(ending)
  return struck
}
