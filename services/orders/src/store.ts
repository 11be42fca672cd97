import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import type { Order } from './order'
import { chainStore } from './store/chain'
import { idempotencyStore } from './store/idempotency'
import { merchantStore } from './store/merchants'
import { orderStore } from './store/orders'

export type Store = ReturnType<typeof openStore>

/** Reads go through Prisma, every commit is one SQL statement: row, inbox and outbox together or not at all. */
export function openStore(database: Database, options: { now: () => Date; committed(order: Order): void }) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    ...orderStore(database, prisma, options),
    ...chainStore(database, prisma),
    ...merchantStore(database, prisma),
    ...idempotencyStore(database),
  }
}
