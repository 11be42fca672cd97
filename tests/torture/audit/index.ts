import type { LocalChain } from '@ponte/local-servers'
import type { Cluster, Servers } from '../cluster'
import type { Books, Ledger } from '../ledger'
import type { Traffic } from '../traffic'
import { answersAgainstEffects } from './answers'
import { directsAgainstChain } from './directs'
import { entriesAgainstChain } from './entries'
import { eventsAgainstStates } from './events'
import { leftBehind } from './left-behind'
import { ordersAgainstFacts } from './orders'
import { paymentsAgainstChain } from './payments'
import { periodsOnce } from './periods'
import { refundsAgainstChain } from './refunds'
import { webhooksAgainstEvents } from './webhooks'

export interface Audited {
  chains: readonly [LocalChain, ...LocalChain[]]
  /** Databases of their listeners. */
  listeners: readonly Books[]
  /** The routers that are followed. */
  routers: readonly string[]
  servers: Servers
  cluster: Cluster
  ledger: Ledger
  traffic: Traffic
}

/** Looks from the outside and into each database, and names every difference. Nothing it finds is a matter of taste. */
export async function audit(audited: Audited): Promise<string[]> {
  const parts = [
    paymentsAgainstChain,
    entriesAgainstChain,
    directsAgainstChain,
    ordersAgainstFacts,
    eventsAgainstStates,
    webhooksAgainstEvents,
    periodsOnce,
    refundsAgainstChain,
    answersAgainstEffects,
    leftBehind,
  ]
  const differences: string[] = []
  for (const part of parts) differences.push(...(await part(audited)))
  return differences
}
