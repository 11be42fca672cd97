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
// no difference names it. Not EXISTS, which the planner answers by a hash of all addresses: it takes a third of the orders to be asked for.
const isComplete = (subject: string) =>
  `(SELECT blocks = '{(,)}'::int8multirange FROM coverage WHERE coverage.chain_id = $1 AND subject = payables.${subject})`
const DUE = `
  SELECT order_id AS "orderId", memo, asked, doubted FROM payables
  WHERE chain_id = $1 AND asked > answered AND (doubted OR (
    ${isComplete('router')} AND ${isComplete('address')} IS NOT FALSE
    AND (SELECT min(memo) FROM differences WHERE differences.chain_id = $1 AND differences.memo = payables.memo) IS NULL))
  LIMIT $2`

/** Asked for by orders, and answered by the scan. */
export const answerStore = (database: Database, chainId: number) => ({
  due: async (limit: number): Promise<Answer[]> =>
    (await database.query<Answer>({ name: 'answers-due', text: DUE }, [chainId, limit])).rows,
})
