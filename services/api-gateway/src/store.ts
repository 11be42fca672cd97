import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { apiKeyStore } from './store/api-keys'
import { auditLogStore } from './store/audit-log'
import { historyStore } from './store/history'
import { mailStore } from './store/mails'
import { memberStore } from './store/members'
import { merchantStore } from './store/merchants'
import { namedKeyStore } from './store/named-keys'
import type { MerchantStoreOptions } from './store/options'
import { rateWindowStore } from './store/rate-windows'
import { sessionStore } from './store/sessions'

export type Store = ReturnType<typeof openStore>

/** Merchants, their keys and their audit log. A change, its audit entry and its event are committed together or not at all. */
export function openStore(database: Database, options: MerchantStoreOptions) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    merchants: merchantStore(database, prisma, options),
    apiKeys: apiKeyStore(database, prisma, options),
    namedKeys: namedKeyStore(database, prisma, options),
    members: memberStore(database, prisma, options),
    history: historyStore(database),
    auditLog: auditLogStore(database, options),
    mails: mailStore(database, options),
    sessions: sessionStore(database, prisma),
    rateWindows: rateWindowStore(database),
  }
}
