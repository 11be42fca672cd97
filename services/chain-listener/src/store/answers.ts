import type { Database } from '@ponte/service-kit'

/** An order that orders asks to be watched, with the answer as far as it is known. */
export interface Answer {
  orderId: string
  memo: string
  asked: number
  /** A difference names it: it is not watched any more, until that is gone. */
  doubted: boolean
}

// Raw SQL, in every turn: the partial index of those that are asked for. An order is watched when nothing is missing of its router and address, and
// no difference names it.
const DUE = `
  SELECT order_id AS "orderId", memo, asked, doubted FROM payables
  WHERE chain_id = $1 AND asked > answered AND (doubted OR (
    EXISTS (SELECT 1 FROM coverage WHERE coverage.chain_id = $1 AND subject = payables.router)
    AND NOT EXISTS (SELECT 1 FROM coverage
      WHERE coverage.chain_id = $1 AND subject IN (payables.router, payables.address) AND blocks <> '{(,)}'::int8multirange)
    AND NOT EXISTS (SELECT 1 FROM differences WHERE differences.chain_id = $1 AND differences.memo = payables.memo)))
  LIMIT $2`

/** Asked for by orders, and answered by the scan. */
export const answerStore = (database: Database, chainId: number) => ({
  due: async (limit: number): Promise<Answer[]> =>
    (await database.query<Answer>({ name: 'answers-due', text: DUE }, [chainId, limit])).rows,
})
