import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { merchantStore } from './store/merchants'
import { type OrderStoreOptions, orderStore } from './store/orders'
import { type StoreOptions, subscriptionStore } from './store/subscriptions'

export { type Cause, isConflict } from './store/commit'

export type Store = ReturnType<typeof openStore>

/** Reads go through Prisma; every commit is one SQL statement: rows, inbox, outbox and stored answer together or not at all. */
export function openStore(database: Database, options: StoreOptions & OrderStoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  const merchants = merchantStore(database, prisma)
  return {
    subscriptions: subscriptionStore(database, prisma, merchants, options),
    orders: orderStore(database, prisma, options),
    merchants,
  }
}
