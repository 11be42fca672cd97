import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { deliveryStore } from './store/deliveries'
import { eventStore } from './store/events'
import { laneStore } from './store/lanes'
import { merchantStore } from './store/merchants'
import { upkeepStore } from './store/upkeep'

export type Store = ReturnType<typeof openStore>

/**
 * A queue's tables change faster than their statistics, and every statement here has an index made for it: the planner is told to plan
 * once, never to read a table whole, and to spend no time on compiling.
 */
export function planned(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  const settings = ['jit=off', 'enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'plan_cache_mode=force_generic_plan']
  url.searchParams.set('options', settings.map(setting => `-c ${setting}`).join(' '))
  return url.href
}

/** Reads go through Prisma, every commit is one SQL statement. */
export function openStore(database: Database) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    ...eventStore(database, prisma),
    ...deliveryStore(database, prisma),
    ...laneStore(database),
    ...merchantStore(database, prisma),
    ...upkeepStore(database),
  }
}
