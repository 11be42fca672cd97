import type { Database } from '@ponte/service-kit'
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client'
import { answerStore } from './store/answers'
import { committer } from './store/commit'
import { coverageStore } from './store/coverage'
import { differenceStore } from './store/differences'
import { generationStore } from './store/generation'
import { paymentStore } from './store/payments'
import { positionStore } from './store/position'

export type Store = ReturnType<typeof openStore>

/** Every commit is one SQL statement that also checks the lease. */
export function openStore(database: Database, chainId: number, now: () => Date) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(database.pool) })
  return {
    generation: generationStore(database, chainId),
    position: positionStore(database, prisma, chainId),
    coverage: coverageStore(database, chainId),
    payments: paymentStore(database, chainId),
    answers: answerStore(database, chainId),
    differences: differenceStore(database, prisma, chainId),
    commit: committer(database, chainId, now),
  }
}
