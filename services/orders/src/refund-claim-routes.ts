import { randomInt, randomUUID } from 'node:crypto'
import {
  ApiError,
  formatUsdc,
  invalidField,
  type MerchantTerms,
  type NewEvent,
  operations,
  type PayerRefundBody,
  userIdOf,
} from '@ponte/contracts'
import { addLogFields, answersTo, type Database, outboxRows, retryConflicts, serve, serveOnce, uuidv7At } from '@ponte/service-kit'
import type { Router } from 'express'
import { checksumAddress } from './chain/checksum-address'
import { type OrderHistory, type Place, placeOf } from './order/body'
import type { Order } from './order/order'
import { destinationOn, mainChainOf, payoutAddressOn } from './payment/payment'
import { cancelClaim, claimBody, claimStatus, isKnownPayment, openClaim, type RefundClaim, takeClaim } from './refund/claim'
import { codeExpiresAt, emailHint, isCode, issueCode, nextCodeAt, wrongCode } from './refund/code'
import { openedRefund, requireReturnable, wantedUnits } from './refund/opening'
import { promisedWith, refundEvents, refundWatch, type StoredRefund, statusOf } from './refund/stored-refund'
import { networkOf, type RefundRouteDeps, reachablePayee } from './refund-routes'

export interface RefundClaimRouteDeps extends RefundRouteDeps {
  database: Database
  place: Pick<Place, 'publicUrl'>
}

/** Links by which payers name the address that money goes back to. Every change is written with the version of its order, as that of a refund. */
export function refundClaimRoutes(router: Router, deps: RefundClaimRouteDeps): void {
  const { store, database, place, now } = deps
  const urlOf = ({ payerToken }: RefundClaim) => `${place.publicUrl}/pay/refund/${payerToken}`
  const historyOf = async (id: string): Promise<OrderHistory> => {
    const found = await store.orders.history(id)
    if (!found) throw new ApiError('not_found', `There is no order ${id}.`)
    return found
  }
  const claimOf = async (id: string, terms: MerchantTerms): Promise<RefundClaim> => {
    const found = await store.refundClaims.find(id)
    if (!found) throw new ApiError('not_found', `There is no claim ${id}.`)
    if (found.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This claim belongs to another merchant.')
    return found
  }
  const claimOfPayer = async (token: string): Promise<RefundClaim> => {
    const found = await store.refundClaims.findByPayerToken(token)
    if (!found) throw new ApiError('not_found', 'There is no such link; check it, or ask the shop for another one.')
    return found
  }

  serveOnce(router, operations.createRefundClaim, database, ({ params, body, caller: by, terms, keyed }) =>
    retryConflicts(async () => {
      const history = await historyOf(params.id)
      const { order } = history
      if (order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
      const of = { ...history, refunds: await store.refunds.ofOrder(order.id) }
      const units = wantedUnits(body, of)
      requireReturnable(of, units)
      const asked = {
        ...{ id: uuidv7At(now()), orderId: order.id, merchantId: order.merchantId, payerToken: randomUUID(), units },
        email: body.email ?? null,
      }
      const claims = await store.refundClaims.ofOrder(order.id)
      const claim = openClaim({ ...asked, reason: body.reason, requestedBy: userIdOf(by) }, claims, now())
      addLogFields({ order_id: order.id, claim_id: claim.id })
      const answer = { status: 201, body: JSON.stringify(claimBody(claim, now(), urlOf(claim))) }
      await store.refunds.commit(order, [], { claims: [claim], answers: answersTo(keyed, answer) })
      return answer
    }),
  )

  serve(router, operations.getRefundClaim, async ({ params, terms }, _req, res) => {
    const claim = await claimOf(params.id, terms)
    res.json(claimBody(claim, now(), urlOf(claim)))
  })

  serveOnce(router, operations.cancelRefundClaim, database, ({ params, terms, keyed }) =>
    retryConflicts(async () => {
      // The order first: a payer who names an address after this moves the order on.
      const { order } = await historyOf((await claimOf(params.id, terms)).orderId)
      const found = await claimOf(params.id, terms)
      const claim = cancelClaim(found, now())
      const answer = { status: 200, body: JSON.stringify(claimBody(claim, now(), null)) }
      const answers = answersTo(keyed, answer)
      if (claim !== found) await store.refunds.commit(order, [], { claims: [claim], answers })
      else if (keyed) await database.commit({ answers })
      return answer
    }),
  )

  const shown = async (claim: RefundClaim): Promise<PayerRefundBody> => {
    const { order, payments } = await historyOf(claim.orderId)
    const refund = claim.refundId === null ? null : await store.refunds.find(claim.refundId)
    const chainId = refund?.chainId ?? mainChainOf(order, payments, deps.networks)
    return {
      object: 'payer_refund',
      status: refund ? stageOf(refund) : claimStatus(claim, now()),
      merchant_name: order.merchantName,
      description: order.description,
      amount: formatUsdc(claim.units),
      network: placeOf(chainId, deps).network,
      chain_id: chainId,
      token_address: destinationOn(order, chainId).tokenAddress,
      expires_at: claim.expiresAt.toISOString(),
      email_hint: claim.email === null || claimStatus(claim, now()) !== 'open' ? null : emailHint(claim.email),
      code_available_at: nextCodeAt(claim, now())?.toISOString() ?? null,
      payee_address: refund?.payee ?? null,
      tx_hash: refund?.ended === 'transferred' ? refund.txHash : null,
    }
  }
  serve(
    router,
    operations.getPayerRefund,
    async ({ params }, _req, res) => void res.json(await shown(await claimOfPayer(params.payer_token))),
  )

  serve(router, operations.requestRefundCode, async ({ params, body }, _req, res) => {
    const asked = await retryConflicts(async () => {
      const { order } = await historyOf((await claimOfPayer(params.payer_token)).orderId)
      const claim = await claimOfPayer(params.payer_token)
      const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
      const next = issueCode(claim, code, now())
      if (next === null) return claim
      addLogFields({ order_id: order.id, claim_id: claim.id })
      const events = outboxRows([codeIssued(next, order, { code, language: body.language })], now())
      await store.refunds.commit(order, [], { events, claims: [next] })
      return next
    })
    res.status(202).json(await shown(asked))
  })

  /** Uses up a try of the code that was mailed last, where there is one. */
  const knowsCode = async ({ id, wantsCode }: RefundClaim, code: string | undefined): Promise<boolean> => {
    if (!wantsCode) return true
    const tried = code === undefined ? null : await store.refundClaims.takeCodeTry(id)
    return tried !== null && isCode(tried, code ?? '', now())
  }

  serve(router, operations.claimRefund, async ({ params, body }, _req, res) => {
    const isKnown = await knowsCode(await claimOfPayer(params.payer_token), body.code)
    const claimed = await retryConflicts(async () => {
      const history = await historyOf((await claimOfPayer(params.payer_token)).orderId)
      const claim = await claimOfPayer(params.payer_token)
      const { order, payments } = history
      const refunds = await store.refunds.ofOrder(order.id)
      // Sent again, it is what it was.
      const named = checksumAddress(body.payee_address)
      if (claim.refundId !== null && refunds.some(({ id, payee }) => id === claim.refundId && payee === named)) return claim
      const next = takeClaim(claim, body.tx_hash, uuidv7At(now()), now())
      if (!isKnown) throw wrongCode()
      if (!isKnownPayment(payments, body))
        throw invalidField(
          'tx_hash',
          'is not, with this amount, a payment of this order: copy both from your wallet or your exchange, the amount as it arrived',
        )
      // It asks the chain, so for a payer alone.
      const chainId = mainChainOf(order, payments, deps.networks)
      if ((body.chain_id ?? chainId) !== chainId)
        throw new ApiError(
          'invalid_state',
          `The refund is made on ${placeOf(chainId, deps).network} by now: name an address of your own there.`,
        )
      const payee = await reachablePayee(networkOf(deps, chainId).payoutAddresses, body.payee_address, payoutAddressOn(order, chainId))
      const asked = {
        id: next.refundId ?? '',
        chainId,
        units: claim.units,
        payee,
        reason: claim.reason,
        requestedBy: claim.requestedBy,
        createdAt: now(),
      }
      const refund = openedRefund({ ...history, refunds }, asked, store.chain.view(chainId).watermark)
      addLogFields({ order_id: order.id, refund_id: refund.id })
      const { promisedUnits, news } = promisedWith(order, refunds, refund, now())
      const events = outboxRows([refundWatch([refund], refund.chainId), ...refundEvents(null, refund, order, now()), ...news], now())
      await store.refunds.commit(order, [refund], { events, promisedUnits, claims: [next] })
      return next
    })
    res.json(await shown(claimed))
  })
}

const CODE_DIGITS = 6

const codeIssued = (claim: RefundClaim, order: Order, { code, language }: { code: string; language: string }): NewEvent => ({
  type: 'refund_claim.code_issued',
  data: {
    ...{ merchant_id: claim.merchantId, order_id: claim.orderId, claim_id: claim.id, merchant_name: order.merchantName },
    ...{ amount: formatUsdc(claim.units), email: claim.email ?? '', language, code, expires_at: codeExpiresAt(claim).toISOString() },
  },
})

/** Its progress, as far as it concerns the payer. */
function stageOf(refund: StoredRefund): PayerRefundBody['status'] {
  const status = statusOf(refund)
  if (status === 'confirmed' || status === 'cancelled') return status
  return status === 'submitted' || status === 'awaiting_funds' ? 'submitted' : 'claimed'
}
