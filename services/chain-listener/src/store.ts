import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { committer } from './store/commit'
import { depositStore } from './store/deposits'
import { differenceStore } from './store/differences'
import { paymentStore } from './store/payments'
import { positionStore } from './store/position'
import { rescanStore } from './store/rescans'
import { routerStore } from './store/routers'

export type Store = ReturnType<typeof openStore>

/** What the listener keeps of one chain. Every commit is one SQL statement that also checks the lease. */
export function openStore(database: Database, chainId: number, now: () => Date) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    position: positionStore(database, prisma, chainId),
    routers: routerStore(database, prisma, chainId),
    payments: paymentStore(database, chainId),
    deposits: depositStore(database, prisma, chainId),
    rescans: rescanStore(database, chainId),
    differences: differenceStore(database, prisma, chainId),
    commit: committer(database, chainId, now),
  }
}
