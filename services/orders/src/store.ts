import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { attentionStore } from './store/attention'
import { bookStore, unmatchedStore } from './store/books'
import { chainStore } from './store/chain'
import { chargeStore } from './store/charges'
import { dossierStore } from './store/dossiers'
import { exportStore } from './store/exports'
import { foreignTokenStore } from './store/foreign-tokens'
import { intakeStore } from './store/intake'
import { invoicingStore } from './store/invoicing'
import { ledgerStore } from './store/ledger'
import { linkStore } from './store/links'
import { merchantStore } from './store/merchants'
import { orderList } from './store/order-list'
import { orderReads } from './store/order-reads'
import { orderWrites } from './store/order-writes'
import { payoutSpanStore } from './store/payout-spans'
import { rateStore } from './store/rates'
import { refundClaimStore } from './store/refund-claims'
import { refundStore } from './store/refunds'
import { authorizationStore, depositStore } from './store/relayer'
import type { OrderStoreOptions } from './store/rows'
import { summaryStore } from './store/summary'
import { watchStore } from './store/watch'

export { type ChargeOwner, chargeOwner } from './store/charges'
export { EXPORT_ATTEMPTS_MAX, type ExportLease } from './store/exports'
export type { Cursor, IntakeLedger, Taken } from './store/intake'
export type { EntrySearch, LedgerSpan } from './store/ledger'
export type { Counted, Due } from './store/order-reads'
export { isKnownOrder, type NewInvoicing, updateOf } from './store/order-writes'
export type { Unmatched } from './store/rows'
export type Store = ReturnType<typeof openStore>

/** Single rows and cold writes go through Prisma; what needs one round trip or a plan of its own is SQL with its reason. */
export function openStore(database: Database, options: OrderStoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  const [ledger, merchants, attention] = [ledgerStore(database), merchantStore(database, prisma), attentionStore(database, prisma)]
  const payoutSpans = payoutSpanStore(database)
  return {
    orders: { ...orderReads(database, prisma), ...orderWrites(database, options), list: orderList(database) },
    deposits: depositStore(database),
    authorizations: authorizationStore(database),
    invoicing: invoicingStore(database),
    links: linkStore(database, options),
    refunds: refundStore(database, options.now),
    refundClaims: refundClaimStore(database),
    foreignTokens: foreignTokenStore(database, options.now),
    unmatched: unmatchedStore(prisma),
    intake: intakeStore(database, options.committed),
    watch: watchStore(database, prisma, options.now),
    charges: chargeStore(database, prisma, options),
    chain: chainStore(database, prisma, options.now, options.latestChainTime),
    merchants,
    payoutSpans,
    books: bookStore(database),
    ledger,
    rates: rateStore(database, prisma),
    exports: exportStore(database),
    dossiers: dossierStore(database),
    summary: summaryStore(database, { ledger, merchants, attention, payoutSpans }),
    attention,
  }
}
