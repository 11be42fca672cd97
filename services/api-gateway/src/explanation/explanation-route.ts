import { ApiError, type AskExplanation, type Explained, operations, pathWith, type TransactionFacts } from '@ponte/contracts'
import type { Response } from 'express'
import { callerIn, termsIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { addressBucket } from '../limits/address-bucket'
import { localLimit, rateLimited, type Verdict } from '../limits/rate-limit'
import { answerOf, asking } from '../owners/answer-of'
import type { Owners } from '../owners/forwarding'
import type { Owner } from '../owners/owner'

/** Transactions a minute that nodes are asked about in this replica, for one merchant, for the payers of one order, or for one address: anyone can make up hashes. */
const LOOKUPS_PER_MINUTE = 30
/** The same for all payers together, whatever orders and addresses they have. */
const PAYERS_LOOKUPS_PER_MINUTE = 300

interface ExplanationDeps {
  owners: Owners
  /** Of the networks beside the first. */
  otherListeners: readonly Owner[]
}

/** Why a transaction did or did not pay an order: orders knows it of what is on record, and of everything else once the listener has read it from the chain. */
export function explanationHandlers({ owners: { orders, ...owners }, otherListeners }: ExplanationDeps) {
  const elapsed = () => performance.now()
  const take = localLimit(LOOKUPS_PER_MINUTE, elapsed)
  const takeOfPayers = localLimit(PAYERS_LOOKUPS_PER_MINUTE, elapsed)

  const explain = async (orderId: string, hash: string, takeLookup: () => void, res: Response) => {
    const caller = callerIn(res)
    const judge = (transaction?: TransactionFacts) =>
      answerOf<Explained>(
        orders,
        caller,
        asking(pathWith(operations.judgeTransaction.path, { order_id: orderId }), {
          tx_hash: hash,
          ...(transaction ? { transaction } : {}),
        } satisfies AskExplanation),
      )
    const { explanation, deposit_address: address } = await judge()
    if (explanation) return res.json(explanation)
    const listener = owners['chain-listener']
    if (!listener) throw new ApiError('invalid_state', 'It is not on record for the order, and the network cannot be asked about it here.')
    takeLookup()
    const query = new URLSearchParams({ hash, ...(address === null ? {} : { deposit_address: address }) })
    const path = `${operations.readTransaction.path}?${query}`
    const facts = await firstFound([listener, ...otherListeners], one => answerOf<TransactionFacts>(one, caller, { method: 'GET', path }))
    return res.json((await judge(facts)).explanation)
  }
  return handling({
    explainOrder: ({ params, body }, _req, res) =>
      explain(params.id, body.tx_hash, () => refuseBeyond(take(`merchant:${termsIn(res).merchant_id}`)), res),
    explainCheckout: ({ params, body }, req, res) => {
      const takeLookup = () => {
        refuseBeyond(take(`address:${addressBucket(req.ip ?? '')}`))
        refuseBeyond(take(`order:${params.order_id}`))
        refuseBeyond(takeOfPayers('payers'))
      }
      return explain(params.order_id, body.tx_hash, takeLookup, res)
    },
  })
}

function refuseBeyond(verdict: Verdict): void {
  if (!verdict.allowed) throw rateLimited(verdict, `More than ${verdict.limit} transactions a minute were asked for`)
}

/** By the first listener whose network has it. Where none has, one that cannot answer denies nothing: its refusal is thrown. */
async function firstFound(listeners: readonly Owner[], ask: (listener: Owner) => Promise<TransactionFacts>): Promise<TransactionFacts> {
  const answers = await Promise.allSettled(listeners.map(ask))
  const facts = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []))
  const found = facts.find(({ status }) => status !== 'not_found')
  if (found) return found
  const refused = answers.find(({ status }) => status === 'rejected')
  if (refused?.status === 'rejected') throw refused.reason
  const [nowhere] = facts
  if (!nowhere) throw new Error('There is no listener to ask.')
  return nowhere
}
