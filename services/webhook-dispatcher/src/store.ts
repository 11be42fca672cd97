import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { deliveryStore } from './store/deliveries'
import { endpointStore } from './store/endpoints'
import { eventStore } from './store/events'
import { laneStore } from './store/lanes'
import { merchantStore } from './store/merchants'
import { noticeStore } from './store/notices'
import { replayStore } from './store/replays'
import { resultStore } from './store/results'
import { upkeepStore } from './store/upkeep'

export type { Claimed } from './store/claim'
export type { DeliveryRow } from './store/deliveries'
export { DELETED_MAX, type EndpointHealth } from './store/endpoints'
export type { Pulled } from './store/events'
export { LEASE_S } from './store/lanes'
export type { Recipient } from './store/recipients'
export { REPLAYS_MAX, type Replay, type Replayed } from './store/replays'
export type { FinishedLane } from './store/results'
export type { ExpiredLane } from './store/upkeep'

export type Store = ReturnType<typeof openStore>

/** The claims join nothing by hashing or sorting a table: a plan that was made while the tables were empty serves when they are full. */
export const PLANNER = ['enable_hashjoin=off', 'enable_mergejoin=off', 'plan_cache_mode=force_generic_plan']

/** Single rows and lists are read through Prisma; what claims, or writes several tables at once, is one named statement. */
export function openStore(database: Database) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    events: eventStore(database, prisma),
    deliveries: deliveryStore(database, prisma),
    replays: replayStore(database, prisma),
    endpoints: endpointStore(database, prisma),
    lanes: laneStore(database),
    results: resultStore(database),
    notices: noticeStore(database),
    merchants: merchantStore(database, prisma),
    upkeep: upkeepStore(database),
  }
}
