import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { attentionStore } from './store/attention'
import { authorizationStore } from './store/authorizations'
import { bookStore } from './store/books'
import { chainStore } from './store/chain'
import { chargeStore } from './store/charges'
import { depositStore } from './store/deposits'
import { merchantStore } from './store/merchants'
import { orderList } from './store/order-list'
import { orderReads } from './store/order-reads'
import { type OrderStoreOptions, orderWrites } from './store/order-writes'
import { summaryStore } from './store/summary'
import { unmatchedStore } from './store/unmatched'

export { type ChargeOwner, chargeOwner } from './store/charges'
export type { Due } from './store/order-reads'
export { isKnownOrder, isOthersPayment, type Report } from './store/order-writes'
export type Store = ReturnType<typeof openStore>

/** Single rows and cold writes go through Prisma; what needs one round trip or a plan of its own is SQL with its reason. */
export function openStore(database: Database, options: OrderStoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    orders: { ...orderReads(database, prisma), ...orderWrites(database, options), list: orderList(database) },
    deposits: depositStore(database),
    authorizations: authorizationStore(database),
    unmatched: unmatchedStore(database, prisma),
    charges: chargeStore(database, prisma, options),
    chain: chainStore(database, prisma, options.latestChainTime),
    merchants: merchantStore(database, prisma),
    books: bookStore(database),
    summary: summaryStore(database),
    attention: attentionStore(database, prisma),
  }
}
