import {
  ApiError,
  type CheckpointListBody,
  caller,
  formatUsdc,
  operations,
  type PaymentAuthorizationBody,
  parseUsdc,
} from '@ponte/contracts'
import { requireCaller, serve } from '@ponte/service-kit'
import { Router } from 'express'
import { type CheckpointStore, checkpointBody } from '../checkpoints'
import type { ReadTransaction } from '../transaction'
import type { Acceptance } from './acceptance'
import type { Authorization } from './store/authorization'

const LISTED = 25

/** Payers' signatures, questions about transactions, and checkpoints, handed on by the gateway alone. */
export function gatewayRoutes(deps: {
  chainId: number
  accept: Acceptance
  accepted(): void
  readTransaction: ReadTransaction
  checkpoints: Pick<CheckpointStore, 'list'>
  tokenSecrets: readonly string[]
  checksum(address: string): string
}): Router {
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'chain-listener', schema: caller }))
  serve(router, operations.acceptAuthorization, async ({ params, query: { status, due }, body, caller: who }, _req, res) => {
    if (who.kind !== 'checkout') throw new ApiError('forbidden', 'A payer signs, not a merchant.')
    if ((body.chain_id ?? deps.chainId) !== deps.chainId) throw new ApiError('not_found', 'The signature is for another network.')
    const authorization = await deps.accept(params.order_id, body, { status, dueUnits: parseUsdc(due) })
    deps.accepted()
    res.status(202).json(toBody(authorization, deps.checksum))
  })
  serve(router, operations.readTransaction, async ({ query }, _req, res) => {
    const facts = await deps.readTransaction(query.hash, query.deposit_address)
    if (facts) return res.json(facts)
    throw new ApiError(
      'service_unavailable',
      'The nodes of the network do not answer, or do not agree about this transaction yet; ask again in a moment.',
      { retryAfterS: 5 },
    )
  })
  serve(router, operations.listCheckpoints, async ({ query: { after = -1, limit = LISTED } }, _req, res) => {
    const found = await deps.checkpoints.list(after, limit + 1)
    const data = found.slice(0, limit).map(one => checkpointBody(one, deps.checksum))
    const next = data.at(-1)?.to_block ?? (after < 0 ? null : after)
    res.json({ object: 'list', data, has_more: found.length > limit, next_after: next } satisfies CheckpointListBody)
  })
  return router
}

const toBody = (one: Authorization, checksum: (address: string) => string): PaymentAuthorizationBody => ({
  object: 'authorization',
  order_id: one.orderId,
  payer_address: checksum(one.payer),
  amount: formatUsdc(one.amountUnits),
  status: one.state,
  tx_hash: one.txHash,
  detail: DETAILS[one.state](one),
})

const DETAILS: Record<Authorization['state'], (one: Authorization) => string> = {
  accepted: () => 'It is sent to the network within seconds, at our cost; the checkout then shows the payment.',
  submitted: () => 'It is on the network and waits to be mined; the checkout then shows the payment.',
  paid: () => 'It is mined; the checkout shows the payment.',
  failed: one => `${FAILURES[one.reason ?? ''] ?? 'It could not be sent; nothing was taken.'} ${afterFailure(one)}`,
}
const FAILURES: Record<string, string> = {
  expired: 'It ended before it could be mined; nothing was taken.',
  nonce_used: 'The account used or cancelled this signature elsewhere; no payment of it is known here.',
  refused_by_token: 'The token refuses it, for example because the balance is gone; nothing was taken.',
  reverted: 'The network refused it when it was to be mined; nothing was taken.',
  not_mined: 'No one mined it in time, and it was withdrawn; nothing was taken.',
  not_sent: 'It could not be sent in time; nothing was taken.',
  too_dear: "The network's fees rose above what this payment is worth; nothing was taken.",
  over_budget: 'No more payments without gas are made here for now; nothing was taken.',
  order_closed: 'The order waits for no payment any more; nothing was taken.',
  account_changed: 'The account became a contract after its key signed; nothing was taken.',
  paid_otherwise: 'The order was paid otherwise before it was sent; nothing was taken.',
}
/** These were seen by others, who may submit them as well. */
const PUBLIC = new Set(['reverted', 'not_mined'])
function afterFailure({ reason, validBefore }: Authorization): string {
  if (reason === 'nonce_used') return 'Pay in another way, or sign with another salt.'
  return PUBLIC.has(reason ?? '')
    ? `Others have seen the signature and it is good until ${new Date(validBefore * 1_000).toISOString()}: before that, sign again with the same salt rather than pay in another way.`
    : 'Pay in another way, or sign again with the same salt.'
}
