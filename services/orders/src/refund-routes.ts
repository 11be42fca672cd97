import {
  ApiError,
  type Caller,
  formatUsdc,
  invalidField,
  type MerchantTerms,
  membersOf,
  operations,
  type RefundBody,
  type SignRefund,
  termsOf,
  userIdOf,
} from '@ponte/contracts'
import {
  addLogFields,
  answersTo,
  type Database,
  type KeyedRequest,
  outboxRows,
  retryConflicts,
  serve,
  serveOnce,
  uuidv7At,
} from '@ponte/service-kit'
import type { Router } from 'express'
import { checksumAddress, isMistyped } from './chain/checksum-address'
import type { PayoutAddresses } from './chain/payout-addresses'
import { isSignedByOwner, type ReturnTerms, returnTypedData, type TokenName } from './chain/token-domain'
import { type NetworkPlace, type OrderHistory, placeOf } from './order/body'
import type { Order } from './order/order'
import { chainIdsOf, hasSeveralNetworks, mainChainOf, payoutAddressOn } from './payment/payment'
import { approve, needsApproval, type RefundLimit, requireTwoMembers } from './refund/approval'
import { claimBody } from './refund/claim'
import { openedRefund, requireReturnable, wantedUnits } from './refund/opening'
import { cancelRefund, isAlive, signRefund } from './refund/refund'
import {
  awaitsSignature,
  cameUnits,
  feeUnitsOf,
  latestEnd,
  promisedOf,
  promisedWith,
  provenPayer,
  refundEvents,
  refundWatch,
  refusalOfReturn,
  requirePayee,
  type StoredRefund,
  statusOf,
  surplusUnits,
  toRefund,
  viewOf,
} from './refund/stored-refund'
import type { Store } from './store'

export interface RefundNetwork extends NetworkPlace {
  tokenAddress: string
  payoutAddresses: Pick<PayoutAddresses, 'refusalOf'>
  /** Rejects while no node can be asked. */
  tokenName(): Promise<TokenName>
}

export interface RefundRouteDeps {
  store: Store
  /** The networks on which money goes back, by chain id. */
  networks: ReadonlyMap<number, RefundNetwork>
  now: () => Date
}

/** A signature that ends sooner may end before it is mined, and one that ends later binds the refund for so long. */
const SIGNED_FOR_S = { least: 60, offered: 3_600, most: 86_400 }

/** Money that goes back. Every change is written with the version of its order, so that what is promised is judged anew when anything else has changed. */
export function refundRoutes(router: Router, deps: RefundRouteDeps & { database: Database }): void {
  const { store, now } = deps

  const orderOf = async (id: string, terms: MerchantTerms): Promise<OrderHistory> => {
    const found = await store.orders.history(id)
    if (!found) throw new ApiError('not_found', `There is no order ${id}.`)
    if (found.order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
    return found
  }
  const refundOf = async (id: string, terms: MerchantTerms): Promise<StoredRefund> => {
    const found = await store.refunds.find(id)
    if (!found) throw new ApiError('not_found', `There is no refund ${id}.`)
    if (found.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This refund belongs to another merchant.')
    return found
  }
  const tokenName = async (chainId: number): Promise<TokenName> => {
    try {
      return await networkOf(deps, chainId).tokenName()
    } catch {
      throw new ApiError('service_unavailable', 'The chain cannot be asked about its token at the moment. Try again shortly.', {
        retryAfterS: 30,
      })
    }
  }
  /** What the wallet has to sign, while it may and the chain can be asked. */
  const toSign = async (refund: StoredRefund): Promise<RefundBody['typed_data']> => {
    const network = deps.networks.get(refund.chainId)
    if (!network || !awaitsSignature(refund)) return null
    const named = await network.tokenName().catch(() => null)
    const validBefore = Math.floor(now().getTime() / 1_000) + SIGNED_FOR_S.offered
    return named && returnTypedData({ ...named, ...returnTerms(refund, network.tokenAddress), validBefore })
  }

  /** Its network is named only where the order has several. */
  const bodyOf = (refund: StoredRefund, order: Order, ...rest: [RefundLimit, RefundBody['typed_data']]): RefundBody => ({
    ...refundBody(refund, ...rest),
    ...(hasSeveralNetworks(order) ? { network: placeOf(refund.chainId, deps).network, chain_id: refund.chainId } : {}),
  })

  /** By all refunds of the order, with those that are about to be written as they will be. */
  const limitOf = async (refunds: readonly StoredRefund[], by: Caller): Promise<RefundLimit> => ({
    promisedUnits: promisedOf(refunds),
    aboveUnits: await store.merchants.refundLimit(termsOf(by)),
    members: membersOf(by),
  })

  serveOnce(router, operations.createRefund, deps.database, async ({ params, body, caller: by, terms, keyed }) =>
    retryConflicts(async () => {
      const { authorizations, payments, ...history } = await orderOf(params.id, terms)
      const { order } = history
      const of = { ...history, refunds: await store.refunds.ofOrder(order.id) }
      const units = wantedUnits(body, of)
      requireReturnable(of, units)
      const chainId = body.chain_id ?? mainChainOf(order, payments, deps.networks)
      if (!chainIdsOf(order).includes(chainId))
        throw invalidField('chain_id', `must be a network of the order: ${chainIdsOf(order).join(' or ')}`)
      const payee = await reachablePayee(
        networkOf(deps, chainId).payoutAddresses,
        requirePayee(body.payee_address, provenPayer(authorizations, payments, chainId)),
        payoutAddressOn(order, chainId),
      )
      const asked = { id: uuidv7At(now()), chainId, units, payee, reason: body.reason, requestedBy: userIdOf(by), createdAt: now() }
      const refund = openedRefund(of, asked, store.chain.view(chainId).watermark)
      addLogFields({ order_id: order.id, refund_id: refund.id })
      const limit = await limitOf([...of.refunds, refund], by)
      const answer = { status: 201, body: JSON.stringify(bodyOf(refund, order, limit, await toSign(refund))) }
      const { promisedUnits, news } = promisedWith(order, of.refunds, refund, now())
      const events = outboxRows([refundWatch([refund], refund.chainId), ...refundEvents(null, refund, order, now()), ...news], now())
      await store.refunds.commit(order, [refund], { events, promisedUnits, answers: answersTo(keyed, answer) })
      return answer
    }),
  )

  serve(router, operations.listRefunds, async ({ params, caller: by, terms }, _req, res) => {
    const { order, leftOverUnits } = await orderOf(params.id, terms)
    const [found, claims] = await Promise.all([store.refunds.ofOrder(order.id), store.refundClaims.ofOrder(order.id)])
    const limit = await limitOf(found, by)
    const [came, promised] = [cameUnits(order, leftOverUnits), limit.promisedUnits]
    const mayReturn = (units: bigint) => formatUsdc(refusalOfReturn(order) !== null || promised > units ? 0n : units - promised)
    res.json({
      object: 'list',
      data: found.map(refund => bodyOf(refund, order, limit, null)),
      claims: claims.map(claim => claimBody(claim, now(), null)),
      came: formatUsdc(came),
      platform_fee: formatUsdc(feeUnitsOf(order)),
      promised: formatUsdc(promised),
      returnable: mayReturn(came),
      surplus: mayReturn(surplusUnits(came, leftOverUnits)),
    })
  })

  serve(router, operations.getRefund, async ({ params, caller: by, terms }, _req, res) => {
    const refund = await refundOf(params.id, terms)
    const { order } = await orderOf(refund.orderId, terms)
    const limit = await limitOf(await store.refunds.ofOrder(order.id), by)
    res.json(bodyOf(refund, order, limit, await toSign(refund)))
  })

  /** Finds a refund with its order, decides, and commits; what moved on meanwhile is decided again. Answers the refund. */
  const change = (
    id: string,
    by: Caller,
    keyed: KeyedRequest | null,
    decide: (refund: StoredRefund, history: OrderHistory, limit: RefundLimit) => Promise<StoredRefund>,
  ) =>
    retryConflicts(async () => {
      const terms = termsOf(by)
      // The order first: what changes the refund after this moves the order on, and is seen by its version.
      const history = await orderOf((await refundOf(id, terms)).orderId, terms)
      const refunds = await store.refunds.ofOrder(history.order.id)
      const refund = refunds.find(one => one.id === id)
      if (!refund) throw new Error(`Refund ${id} is gone from its order.`)
      const next = await decide(refund, history, await limitOf(refunds, by))
      const after = await limitOf(
        refunds.map(one => (one.id === id ? next : one)),
        by,
      )
      const answer = { status: 200, body: JSON.stringify(bodyOf(next, history.order, after, null)) }
      if (next === refund) {
        if (keyed) await deps.database.commit({ answers: answersTo(keyed, answer) })
        return answer
      }
      const isNews = next.signatures.length > refund.signatures.length || next.cancelledAt !== refund.cancelledAt
      const { promisedUnits, news } = promisedWith(history.order, refunds, next, now())
      const events = outboxRows([...(isNews ? [refundWatch([next], next.chainId)] : []), ...news], now())
      await store.refunds.commit(history.order, [next], { events, promisedUnits, answers: answersTo(keyed, answer) })
      return answer
    })

  serveOnce(router, operations.signRefund, deps.database, ({ params, body, caller: by, keyed }) =>
    change(params.id, by, keyed, (refund, history, limit) => sign(refund, history, body, { by: userIdOf(by), limit })),
  )

  serve(router, operations.approveRefund, async ({ params, caller: by }, _req, res) => {
    const member = userIdOf(by)
    if (member === null) throw new ApiError('forbidden', 'A key is no member: a refund is approved by a session.')
    const { status, body } = await change(params.id, by, null, async (refund, _history, { members }) =>
      approve(refund, member, now(), members),
    )
    res.status(status).type('json').send(body)
  })

  serveOnce(router, operations.cancelRefund, deps.database, ({ params, caller: by, keyed }) =>
    change(params.id, by, keyed, async refund => {
      const { cancelledAt } = cancelRefund(toRefund(refund), viewOf(refund), now())
      return refund.cancelledAt === null ? { ...refund, cancelledAt } : refund
    }),
  )

  async function sign(
    refund: StoredRefund,
    { order, leftOverUnits }: OrderHistory,
    body: SignRefund,
    { by, limit }: { by: string | null; limit: RefundLimit },
  ): Promise<StoredRefund> {
    const signature = body.signature.toLowerCase()
    const validBefore = new Date(body.valid_before * 1_000)
    // Sent again, it is what it was.
    if (refund.signatures.some(seen => seen.signature === signature && seen.validBefore.getTime() === validBefore.getTime())) return refund
    const seconds = body.valid_before - now().getTime() / 1_000
    if (seconds < SIGNED_FOR_S.least) throw invalidField('valid_before', `must be at least ${SIGNED_FOR_S.least} seconds ahead`)
    if (seconds > SIGNED_FOR_S.most) throw invalidField('valid_before', `must be at most ${SIGNED_FOR_S.most} seconds ahead`)
    // A reorganisation may have taken away what came since it was made.
    if (limit.promisedUnits > cameUnits(order, leftOverUnits))
      throw new ApiError(
        'invalid_state',
        'Less came for the order by now than its refunds return together: cancel this refund and make a smaller one.',
      )
    const { payee, units, nonce, signatures } = refund
    signRefund(toRefund(refund), { nonce, payee, units, validBefore }, viewOf(refund))
    requireTwoMembers(refund, by, limit)
    const { tokenAddress } = networkOf(deps, refund.chainId)
    const terms: ReturnTerms = {
      ...(await tokenName(refund.chainId)),
      ...returnTerms(refund, tokenAddress),
      validBefore: body.valid_before,
    }
    if (!isSignedByOwner(terms, signature))
      throw invalidField(
        'signature',
        `must be the signature of typed_data, with this valid_before, by the key of ${refund.fromAddress}; a contract wallet submits it itself`,
      )
    return { ...refund, signatures: [...signatures, { validBefore, signature, seenAt: now() }] }
  }
}

/** Throws `invalid_state` for a network that is followed no more. */
export function networkOf({ networks }: Pick<RefundRouteDeps, 'networks'>, chainId: number): RefundNetwork {
  const found = networks.get(chainId)
  if (found) return found
  throw new ApiError(
    'invalid_state',
    `Nothing goes back on the network ${chainId}, which is not followed here any more: make a refund on another network of the order.`,
  )
}

/** Where money is lost it is not sent. Throws `invalid_request`; else the payee with the capitals that fit. */
export async function reachablePayee(addresses: RefundNetwork['payoutAddresses'], named: string, merchantAddress: string): Promise<string> {
  if (isMistyped(named)) throw invalidField('payee_address', 'has capitals that do not fit it (EIP-55): a character may be mistyped')
  const isSender = named.toLowerCase() === merchantAddress.toLowerCase()
  const refusal = isSender ? 'is the wallet that the money comes from' : await addresses.refusalOf(checksumAddress(named))
  if (refusal !== null) throw invalidField('payee_address', refusal)
  return checksumAddress(named)
}

const returnTerms = ({ chainId, fromAddress, payee, units, nonce }: StoredRefund, tokenAddress: string) => ({
  ...{ chainId, tokenAddress, from: fromAddress, to: payee, units, nonce },
})

const refundBody = (refund: StoredRefund, limit: RefundLimit, typedData: RefundBody['typed_data']): RefundBody => {
  const view = viewOf(refund)
  const lives = toRefund(refund).signatures.some(signature => isAlive(signature, view))
  return {
    object: 'refund',
    id: refund.id,
    order_id: refund.orderId,
    status: statusOf(refund),
    amount: formatUsdc(refund.units),
    payee_address: refund.payee,
    from_address: refund.fromAddress,
    reason: refund.reason,
    requested_by: refund.requestedBy,
    approved_by: refund.approvedBy,
    approved_at: refund.approvedAt?.toISOString() ?? null,
    needs_approval: needsApproval(refund, limit),
    nonce: refund.nonce,
    valid_before: lives ? latestEnd(refund) : null,
    typed_data: typedData,
    tx_hash: refund.ended === 'transferred' ? refund.txHash : null,
    created_at: refund.createdAt.toISOString(),
    confirmed_at: refund.ended === 'transferred' ? (refund.blockTime?.toISOString() ?? null) : null,
    cancelled_at: refund.cancelledAt?.toISOString() ?? null,
  }
}
