import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { chainStore } from './store/chain'
import { chargeStore } from './store/charges'
import { idempotencyStore } from './store/idempotency'
import { ledgerStore } from './store/ledger'
import { merchantStore } from './store/merchants'
import { orderList } from './store/order-list'
import { type OrderStoreOptions, orderStore } from './store/orders'
import { reconciliationStore } from './store/reconciliation'
import { unmatchedStore } from './store/unmatched'

export type Store = ReturnType<typeof openStore>

/** Reads go through Prisma, every commit is one SQL statement: row, inbox and outbox together or not at all. */
export function openStore(database: Database, options: OrderStoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    ...ledgerStore(database),
    ...orderStore(database, options),
    ...orderList(database),
    ...chargeStore(database, options),
    ...chainStore(database, prisma),
    ...unmatchedStore(database, prisma),
    ...reconciliationStore(database),
    ...merchantStore(database, prisma),
    ...idempotencyStore(database),
  }
}
