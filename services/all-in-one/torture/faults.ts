import { serviceNames } from '../src'
import type { World } from '../test/system'
import type { Cluster } from './cluster'
import type { Ledger } from './ledger'
import type { Random } from './random'
import type { Traffic } from './traffic'

export interface Fault {
  name: string
  /** Does the harm, and answers how to end it; null when it ends by itself. */
  strike(): Promise<(() => Promise<void> | void) | null>
}

/** The ways in which this harness breaks things. Each ends before the next of its kind begins. */
export function faultsOf(world: World, cluster: Cluster, ledger: Ledger, traffic: Traffic, random: Random): Fault[] {
  const anyReplica = () => random.pick(cluster.replicas)
  const anyProxy = () => random.pick([...cluster.proxies.values()])
  return [
    {
      name: 'kill -9',
      async strike() {
        const replica = anyReplica()
        cluster.signal(replica, 'SIGKILL')
        return async () => {
          if (!replica.child) await cluster.start(replica)
        }
      },
    },
    {
      name: 'SIGSTOP',
      async strike() {
        const replica = anyReplica()
        cluster.signal(replica, 'SIGSTOP')
        return () => cluster.signal(replica, 'SIGCONT')
      },
    },
    {
      name: 'connections cut',
      async strike() {
        anyProxy().cut()
        return null
      },
    },
    {
      name: 'connections refused',
      async strike() {
        const proxy = anyProxy()
        proxy.refuse(true)
        return () => proxy.refuse(false)
      },
    },
    {
      name: 'bytes stalled',
      async strike() {
        const proxy = anyProxy()
        proxy.stall(true)
        return () => proxy.stall(false)
      },
    },
    {
      name: 'bytes delayed',
      async strike() {
        const proxy = anyProxy()
        proxy.delay(random.between(20, 300))
        return () => proxy.delay(0)
      },
    },
    {
      name: 'reorg',
      async strike() {
        await world.chain.reorg(random.between(1, ledger.reorgDepthMax + 1))
        return null
      },
    },
    {
      name: 'receiver fails',
      async strike() {
        const { receiver } = random.pick(traffic.merchants)
        receiver.answerWith(random.pick([500, 503, 302, 404]))
        return () => receiver.answerWith(null)
      },
    },
    {
      name: 'messages again, in another order',
      async strike() {
        const service = random.pick(serviceNames)
        await ledger.publishAgain(service, random.between(5, 40))
        return null
      },
    },
  ]
}
