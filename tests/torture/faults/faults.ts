import { type Crashable, type LocalChain, faults as rpcFaults } from '@ponte/local-servers'
import type { Random } from '@ponte/service-kit/testing'
import type { Cluster, Servers } from '../cluster'
import type { Books, Ledger } from '../ledger'
import type { Miner } from '../miner'
import type { Misbehaviour } from '../receiver'
import type { Traffic } from '../traffic'

export interface Fault {
  name: string
  /** A run of fewer seconds does not have it. */
  leastSeconds?: number
  /** How long it lasts, where that is not the usual time. */
  lastsMs?: readonly [number, number]
  /** Does the harm, and answers how to end it; null when it ends by itself. */
  strike(): Promise<(() => Promise<void> | void) | null>
}

export interface Harmed {
  chains: readonly [LocalChain, ...LocalChain[]]
  /** One of each chain. */
  miners: readonly [Miner, ...Miner[]]
  /** Databases of their listeners. */
  listeners: readonly Books[]
  /** Databases of those that publish. */
  publishers: readonly Books[]
  servers: Servers
  cluster: Cluster
  ledger: Ledger
  traffic: Traffic
  random: Random
  /** Depth at which payments are confirmed. */
  confirmations: number
  reorgDepthMax: number
}

/** The ways in which this harness breaks things. Each ends before the next of its kind begins. */
export const faultsOf = (harmed: Harmed): Fault[] => [
  ...processFaults(harmed),
  ...serverFaults(harmed),
  ...connectionFaults(harmed),
  ...chainFaults(harmed),
  ...networkFaults(harmed),
  ...receiverFaults(harmed),
  ...messageFaults(harmed),
]

function processFaults({ cluster, random }: Harmed): Fault[] {
  const any = () => random.pick(cluster.replicas)
  return [
    {
      name: 'kill -9',
      async strike() {
        cluster.signal(any(), 'SIGKILL')
        return null
      },
    },
    {
      name: 'SIGSTOP',
      async strike() {
        const replica = any()
        cluster.signal(replica, 'SIGSTOP')
        return () => cluster.signal(replica, 'SIGCONT')
      },
    },
    {
      name: 'clock moved by minutes',
      async strike() {
        const replica = any()
        cluster.moveClock(replica, random.between(1, 10) * 60_000 * (random.chance(0.5) ? 1 : -1))
        return () => cluster.moveClock(replica, 0)
      },
    },
  ]
}

function serverFaults({ servers, listeners, random }: Harmed): Fault[] {
  const crash = (name: string, server: Crashable): Fault => ({
    name,
    async strike() {
      await server.crash()
      return () => server.start()
    },
  })
  // It reads from no publisher until the alarm ends; consumers go on.
  const alarm = (name: string, command: string, harmful: string, harmless: string): Fault => ({
    name,
    async strike() {
      await servers.broker.control(command, harmful)
      return async () => void (await servers.broker.control(command, harmless))
    },
  })
  return [
    crash('PostgreSQL crashes', servers.postgres),
    crash('RabbitMQ crashes', servers.broker),
    alarm('memory alarm of RabbitMQ', 'set_vm_memory_high_watermark', '0.000001', '0.4'),
    alarm('disk alarm of RabbitMQ', 'set_disk_free_limit', '100000GB', '50MB'),
    {
      // Orders, plans, keys and deliveries exist in one database alone: of them, a listener's is the one that refills itself as a whole.
      name: 'the listener goes back by up to a minute',
      lastsMs: [0, 60_000],
      // It is noticed within a minute and mended within two.
      leastSeconds: 60,
      strike: () => servers.postgres.keep(random.pick(listeners)),
    },
    {
      name: 'PostgreSQL refuses to write',
      async strike() {
        await servers.postgres.refuseWrites(true)
        return () => servers.postgres.refuseWrites(false)
      },
    },
  ]
}

function connectionFaults({ cluster, random }: Harmed): Fault[] {
  const any = () => random.pick([...cluster.proxies.values()])
  return [
    {
      name: 'connections cut',
      async strike() {
        any().cut()
        return null
      },
    },
    {
      name: 'connections refused',
      async strike() {
        const proxy = any()
        proxy.refuse(true)
        return () => proxy.refuse(false)
      },
    },
    {
      name: 'bytes stalled',
      async strike() {
        const proxy = any()
        proxy.stall(true)
        return () => proxy.stall(false)
      },
    },
    {
      name: 'one direction stalled',
      async strike() {
        const proxy = any()
        proxy.stall(true, random.pick(['there', 'back'] as const))
        return () => proxy.stall(false)
      },
    },
    {
      name: 'bytes delayed',
      async strike() {
        const proxy = any()
        proxy.delay(random.between(20, 300))
        return () => proxy.delay(0)
      },
    },
  ]
}

function chainFaults({ chains, miners, cluster, random, confirmations, reorgDepthMax }: Harmed): Fault[] {
  const reorg = (name: string, from: number, to: number): Fault => ({
    name,
    async strike() {
      await random.pick(miners).reorg(random.between(from, to + 1))
      return null
    },
  })
  const behind = ({ provider }: LocalChain, blocks: number) => {
    let head = 0
    void provider.getBlockNumber().then(number => {
      head = number - blocks
    })
    return rpcFaults.lagging(() => head)
  }
  const refusals = [
    () => rpcFaults.silence(),
    () => rpcFaults.hangUp(),
    () => rpcFaults.drip(),
    () => rpcFaults.status(429, 'slow down', { 'retry-after': '1' }),
    () => rpcFaults.status(503),
    () => rpcFaults.truncated(),
    () => rpcFaults.notJson(),
    () => rpcFaults.missingAnswers(),
  ]
  const lies = [() => rpcFaults.emptyLogs(), (chain: LocalChain) => behind(chain, random.between(1, 8)), () => rpcFaults.wrongChain(1)]
  // One end point at a time: when most of them lie alike, what they answer is what the chain is.
  const rpc = (name: string, ways: typeof lies): Fault => ({
    name,
    async strike() {
      const [chain, nodes] = random.pick(chains.map((chain, index) => [chain, cluster.rpcs[index] ?? []] as const))
      const node = random.pick(nodes)
      node.set(random.pick(ways)(chain))
      return () => node.set()
    },
  })
  return [
    reorg('reorg within the confirmation depth', 1, confirmations - 1),
    reorg('reorg beyond the confirmation depth', confirmations, reorgDepthMax),
    rpc('RPC end point fails', refusals),
    rpc('RPC end point lies', lies),
  ]
}

/** Of one of several networks, while the others go on. */
function networkFaults({ chains: [, ...others], miners, cluster, random }: Harmed): Fault[] {
  if (others.length === 0) return []
  return [
    {
      name: 'a chain stands still',
      lastsMs: [1_000, 20_000],
      strike: () => random.pick(miners).halt(),
    },
    {
      name: 'a chain stands still for minutes',
      lastsMs: [90_000, 150_000],
      leastSeconds: 300,
      strike: () => random.pick(miners).halt(),
    },
    {
      name: 'a network is suspended by its operator',
      lastsMs: [10_000, 60_000],
      leastSeconds: 60,
      async strike() {
        await cluster.suspend(random.pick(others).chainId)
        return () => cluster.suspend(null)
      },
    },
    ...miners.map(
      (miner): Fault => ({
        name: `reorg of ${miner.chainId} alone`,
        async strike() {
          await miner.reorg(2)
          return null
        },
      }),
    ),
  ]
}

function receiverFaults({ traffic, random }: Harmed): Fault[] {
  const misbehave = (name: string, ways: readonly Misbehaviour[]): Fault => ({
    name,
    async strike() {
      const { receiver } = random.pick(traffic.merchants)
      receiver.misbehave(random.pick(ways))
      return () => receiver.misbehave(null)
    },
  })
  return [
    misbehave('receiver fails', ['fails', 'is away', 'refuses for ever']),
    misbehave('receiver hangs', ['hangs', 'promises an answer']),
    misbehave('receiver lies', ['hangs up', 'answers nonsense', 'sends elsewhere']),
  ]
}

function messageFaults({ ledger, publishers, random }: Harmed): Fault[] {
  return [
    {
      name: 'messages doubled',
      async strike() {
        await ledger.publishAgain(random.pick(publishers), random.between(5, 40))
        return null
      },
    },
    {
      name: 'messages overtaken',
      async strike() {
        const service = random.pick(publishers)
        await ledger.holdBack(service, true)
        return () => ledger.holdBack(service, false)
      },
    },
  ]
}
