import { ApiError, invalidField, type MerchantTerms, operations, userIdOf } from '@ponte/contracts'
import { addLogFields, answersTo, type Database, outboxRows, retryConflicts, serve, serveOnce, uuidv7At } from '@ponte/service-kit'
import type { Router } from 'express'
import { checksumAddress, isMistyped } from './chain/checksum-address'
import type { Order } from './order/order'
import { chainIdsOf, destinationOn } from './payment/payment'
import { COIN, recoveryBody, recoveryWatch, requestRecovery, requireRecoverable, watched } from './recovery/recovery'
import type { Store } from './store'

export interface RecoveryRouteDeps {
  store: Store
  database: Database
  now: () => Date
}

export function recoveryRoutes(router: Router, { store, database, now }: RecoveryRouteDeps): void {
  const orderOf = async (id: string, terms: MerchantTerms): Promise<Order> => {
    const found = await store.orders.find(id)
    if (!found) throw new ApiError('not_found', `There is no order ${id}.`)
    if (found.order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
    return found.order
  }

  serveOnce(router, operations.createRecovery, database, async ({ params, body, caller, terms, keyed }) => {
    const order = await orderOf(params.id, terms)
    for (const path of ['destination', 'token_address'] as const)
      if (isMistyped(body[path] ?? COIN)) throw invalidField(path, 'has capitals that do not fit it (EIP-55): a character may be mistyped')
    const { chain_id: named } = body
    if (named !== undefined && !chainIdsOf(order).includes(named))
      throw invalidField('chain_id', `must be a network of the order: ${chainIdsOf(order).join(' or ')}`)
    const asked = body.token_address === null ? COIN : checksumAddress(body.token_address)
    return retryConflicts(async () => {
      const [token, ...more] = (await store.foreignTokens.ofOrder(order.id)).filter(
        ({ chainId, tokenAddress }) => tokenAddress === asked && chainId === (named ?? chainId),
      )
      requireRecoverable(destinationOn(order, named ?? token?.chainId ?? order.chainId), body)
      if (more.length > 0) throw invalidField('chain_id', 'must be named: it was found on several networks of the order')
      if (!token)
        throw new ApiError(
          'invalid_state',
          'It was not found at the deposit address: explain the transaction that sent it first, once it is confirmed.',
        )
      const { chainId } = token
      const { watermark } = store.chain.view(chainId)
      const request = { id: uuidv7At(now()), by: userIdOf(caller), watermark: BigInt(watermark ?? 0) }
      const next = requestRecovery(token, request, now())
      const answer = { status: 202, body: JSON.stringify(recoveryBody(next ?? token, order)) }
      const answers = answersTo(keyed, answer)
      if (next) {
        addLogFields({ order_id: order.id, recovery_id: request.id })
        const events = outboxRows([recoveryWatch([watched(next, { memo: order.memo, ...destinationOn(order, chainId) })], chainId)], now())
        await store.foreignTokens.commit(next, { events, answers })
      } else if (keyed) await database.commit({ answers })
      return answer
    })
  })

  serve(router, operations.listRecoveries, async ({ params, terms }, _req, res) => {
    const order = await orderOf(params.id, terms)
    const found = await store.foreignTokens.ofOrder(order.id)
    res.json({ object: 'list', data: found.flatMap(token => recoveryBody(token, order) ?? []) })
  })
}
