import { randomBytes } from 'node:crypto'
import {
  ApiError,
  type CreateOrder,
  caller,
  type DossierKeys,
  type ErasedCustomers,
  type Explained,
  invalidField,
  type ListOrders,
  type LiveCheckouts,
  type MerchantTerms,
  type NetworkListBody,
  ORDER_EXPIRES_IN_DEFAULT_S,
  ORDER_EXPIRES_IN_MAX_S,
  ORDER_EXPIRES_IN_MIN_S,
  operations,
  parseBrl,
  parseNullableUsdc,
  type TransactionFacts,
  termsOf,
  userIdOf,
} from '@ponte/contracts'
import {
  addLogFields,
  answersTo,
  type Database,
  type KeyedRequest,
  requireCaller,
  retryConflicts,
  searchedPage,
  serve,
  serveOnce,
  uuidv7At,
} from '@ponte/service-kit'
import { Router } from 'express'
import { attentionRoutes } from './attention/attention-route'
import { checksumAddress } from './chain/checksum-address'
import type { Dossiers } from './dossier/dossiers'
import { entriesRoutes } from './export/entries-route'
import { exportOrders } from './export/export-route'
import { exportRoutes } from './export/exports-route'
import type { Intake } from './intake'
import { linkRoutes } from './link-routes'
import { type Acceptance, accept } from './order/acceptance'
import { checkoutBody, historyBody, type OrderHistory, orderBody, type Place, placeOf } from './order/body'
import { explain } from './order/explanation'
import type { OrderFactory } from './order/factory'
import { invoicingChange, newInvoicing } from './order/invoicing'
import { cancel, type Ledger, type Order } from './order/order'
import { chainIdsOf, destinationOn, type Payout } from './payment/payment'
import { foreignIn } from './recovery/recovery'
import { recoveryRoutes } from './recovery-routes'
import { requireNonePromised } from './refund/stored-refund'
import { refundClaimRoutes } from './refund-claim-routes'
import { type RefundRouteDeps, refundRoutes } from './refund-routes'
import { type Store, updateOf } from './store'

export interface RouteDeps extends Pick<RefundRouteDeps, 'networks'> {
  dossiers: Dossiers
  dossierKeys: DossierKeys
  store: Store
  database: Database
  orderFactory: OrderFactory
  judgePayoutAddress(address: string, chainId?: number): Promise<boolean | null>
  place: Place
  feeBps: bigint
  now: () => Date
  attach: Intake['attach']
  isPayable(payout: Payout, chainId: number): Promise<boolean>
  exportAsked: () => void
  tokenSecrets: readonly string[]
}

export function routes(deps: RouteDeps): Router {
  const { store, place } = deps
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'orders', schema: caller }))

  serveOnce(router, operations.createOrder, deps.database, async ({ body, caller: by, terms, keyed }) => {
    const at = deps.now()
    const change = await deps.orderFactory.open({
      id: uuidv7At(at),
      memo: randomBytes(32).toString('hex'),
      // A gateway of the release before does not know the merchant's networks.
      terms: terms.chain_ids === undefined ? await store.merchants.newestTerms(terms) : terms,
      subscriptionId: null,
      externalRef: body.external_ref ?? null,
      description: body.description ?? null,
      successUrl: body.success_url ?? null,
      cancelUrl: body.cancel_url ?? null,
      metadata: body.metadata ?? {},
      brlCentavos: parseBrl(body.brl_amount),
      toleranceUnits: parseNullableUsdc(body.payment_tolerance),
      chainIds: body.chain_ids,
      expiresAt: expiresAt(body, at),
    })
    addLogFields({ order_id: change.order.id })
    const invoicing = newInvoicing(body, userIdOf(by), at)
    const answer = { status: 201, body: JSON.stringify(orderBody(change.order, place, invoicing)) }
    await store.orders.insert(change, { answers: answersTo(keyed, answer), invoicing: { ...invoicing, givenAt: at } })
    return answer
  })

  serve(router, operations.listOrders, async ({ query, terms }, _req, res) => {
    const filter = withChecksum(query)
    const find = async (limit: number) => {
      const { rows, searchedTo } = await store.orders.list(terms.merchant_id, filter, limit)
      const invoicingOf = await store.invoicing.ofAll(rows.map(({ id }) => id))
      return { rows: rows.map(order => ({ id: order.id, order, invoicing: invoicingOf(order.id) })), searchedTo }
    }
    res.json(await searchedPage(query, find, ({ order, invoicing }) => orderBody(order, place, invoicing)))
  })

  serve(router, operations.exportOrders, exportOrders(store, place, withChecksum))

  attentionRoutes(router, deps)
  refundRoutes(router, deps)
  refundClaimRoutes(router, deps)
  recoveryRoutes(router, deps)
  entriesRoutes(router, deps)
  exportRoutes(router, deps)
  serve(router, operations.listNetworks, async (_asked, _req, res) => void res.json(networksBody(deps)))
  serve(router, operations.listDossierKeys, async (_asked, _req, res) => void res.json(deps.dossierKeys))
  linkRoutes(router, deps)

  serve(router, operations.getOrder, async ({ params, terms }, _req, res) => {
    const history = await historyOf(store, params.id)
    requireOwner(history, terms)
    res.json(historyBody(history, place, await store.invoicing.of(params.id)))
  })

  serve(router, operations.updateOrder, async ({ params, body, caller: by, terms }, _req, res) => {
    const history = await historyOf(store, params.id)
    requireOwner(history, terms)
    const at = deps.now()
    await store.invoicing.update(history.order, invoicingChange(body, userIdOf(by), at), at)
    res.json(historyBody(history, place, await store.invoicing.of(params.id)))
  })

  serve(router, operations.eraseOrderCustomers, async ({ body, caller: by }, _req, res) => {
    res.json((await store.invoicing.erase(termsOf(by).merchant_id, body, deps.now())) satisfies ErasedCustomers)
  })

  serveOnce(router, operations.cancelOrder, deps.database, async ({ params, terms, keyed }) => ({
    status: 200,
    body: await cancelOrder(deps, params.id, terms, keyed),
  }))

  serveOnce(router, operations.acceptOrder, deps.database, async ({ params, body: { reason }, caller: by, terms, keyed }) => ({
    status: 200,
    body: await acceptOrder(deps, params.id, { reason, by: userIdOf(by) }, terms, keyed),
  }))

  serve(router, operations.getSummary, async ({ query, terms }, _req, res) => {
    res.json(await store.summary(terms, query))
  })

  serve(router, operations.getCheckout, async ({ params }, _req, res) => {
    const history = await historyOf(store, params.order_id)
    res.json(checkoutBody(history, await store.chain.heads(), place))
  })

  serve(router, operations.getCheckouts, async ({ body }, _req, res) => {
    const found = await store.orders.histories(body.ids)
    const heads = await store.chain.heads()
    const data = found.map(history => ({
      merchant_id: history.order.merchantId,
      checkout: checkoutBody(history, heads, place),
    }))
    res.json({ data } satisfies LiveCheckouts)
  })

  serve(router, operations.judgeTransaction, async ({ params, body: { tx_hash: txHash, transaction = null }, caller: by }, _req, res) => {
    const history = await historyOf(store, params.order_id)
    const { order } = history
    if (by.kind === 'merchant') requireOwner(history, by.terms)
    const explanation = explain({
      ...{ order, payments: history.payments, txHash, transaction },
      others: transaction ? await payeesOf(store, order, transaction) : [],
      merchantId: by.kind === 'merchant' ? by.terms.merchant_id : null,
      heads: await store.chain.heads(),
      place,
    })
    if (transaction && explanation?.code === 'wrong_token') await keepForeign(deps, order, txHash, transaction, by.kind)
    res.json({ explanation, deposit_address: order.depositAddress } satisfies Explained)
  })

  serve(router, operations.judgePayoutAddress, async ({ params: { address }, query: { chain_id } }, _req, res) => {
    const isContract = await deps.judgePayoutAddress(address, chain_id)
    if (isContract === null)
      throw new ApiError('service_unavailable', 'The chain cannot be asked about this address at the moment. Try again shortly.', {
        retryAfterS: 30,
      })
    res.json({ object: 'payout_address', address: checksumAddress(address), is_contract: isContract })
  })

  return router
}

const networksBody = ({ networks, place }: RouteDeps): NetworkListBody => ({
  object: 'list',
  data: [...networks].map(([chainId, { network, tokenAddress }]) => ({
    ...{ network, chain_id: chainId, token_address: tokenAddress, suspended: place.isSuspended(chainId) },
  })),
})

/** Cancels the caller's order. A payment that came in between is looked at again, and then the cancellation may be refused. */
const cancelOrder = (
  { store, database, place, now }: RouteDeps,
  id: string,
  terms: MerchantTerms,
  keyed: KeyedRequest | null,
): Promise<string> =>
  retryConflicts(async () => {
    const found = await store.orders.find(id)
    if (!found) throw notFound(id)
    requireOwner(found, terms)
    const change = cancel(found.order, now())
    const body = JSON.stringify(orderBody(change?.order ?? found.order, place, await store.invoicing.of(id)))
    const answers = answersTo(keyed, { status: 200, body })
    if (change) await store.orders.commit(change, { answers })
    else if (keyed) await database.commit({ answers })
    return body
  })

/** A payment that came in between is looked at again: what the answer shows as accepted is what was confirmed by then. */
const acceptOrder = (
  { store, place, now }: RouteDeps,
  id: string,
  acceptance: Acceptance,
  terms: MerchantTerms,
  keyed: KeyedRequest | null,
): Promise<string> =>
  retryConflicts(async () => {
    const found = await store.orders.find(id)
    if (!found) throw notFound(id)
    requireOwner(found, terms)
    requireNonePromised(await store.refunds.ofOrder(id))
    const change = accept(found, acceptance, store.chain.viewOf(found.order), now())
    const body = JSON.stringify(orderBody(change.order, place, await store.invoicing.of(id)))
    if (!(await store.links.decide(change, { ...updateOf(change, now()), answers: answersTo(keyed, { status: 200, body }) })))
      throw new ApiError('invalid_state', 'Another order of its invoice is paid: what came for this one is to be returned.')
    return body
  })

/** Addresses are kept in EIP-55 form, whatever case they are asked for in. */
const withChecksum = ({ deposit_address, ...query }: ListOrders): ListOrders =>
  deposit_address === undefined ? query : { ...query, deposit_address: checksumAddress(deposit_address) }

const payeesOf = (store: Store, order: Order, { chain_id, payments, transfers }: TransactionFacts) =>
  !chainIdsOf(order).includes(chain_id)
    ? []
    : store.orders.payees(
        order.id,
        payments.map(({ memo }) => memo),
        transfers.map(({ to_address }) => to_address),
      )

/** Anyone may send worthless tokens to an address and quote their transactions: what payers quote fills no place that the merchant's own questions have. */
const FOREIGN_MAX = { checkout: 5, merchant: 20 }

function keepForeign(
  { store, place, now }: RouteDeps,
  order: Order,
  txHash: string,
  transaction: TransactionFacts,
  by: keyof typeof FOREIGN_MAX,
): Promise<void> {
  const [at, chainId] = [now(), transaction.chain_id]
  const found = foreignIn(destinationOn(order, chainId), transaction, placeOf(chainId, place).confirmations).map(
    ({ tokenAddress, units }) => ({
      ...{ id: uuidv7At(at), orderId: order.id, merchantId: order.merchantId, chainId },
      ...{ tokenAddress: checksumAddress(tokenAddress), units },
      ...{ txHash, sentAt: new Date(transaction.block_time ?? at), foundAt: at },
    }),
  )
  return store.foreignTokens.keep(order.id, chainId, found, FOREIGN_MAX[by])
}

const notFound = (id: string) => new ApiError('not_found', `There is no order ${id}.`)

async function historyOf(store: Store, id: string): Promise<OrderHistory> {
  const found = await store.orders.history(id)
  if (!found) throw notFound(id)
  return found
}

function requireOwner({ order }: Pick<Ledger, 'order'>, terms: MerchantTerms): void {
  if (order.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This order belongs to another merchant.')
}

function expiresAt(body: CreateOrder, at: Date): Date {
  if (body.expires_at === undefined) return new Date(at.getTime() + (body.expires_in ?? ORDER_EXPIRES_IN_DEFAULT_S) * 1000)
  const wanted = new Date(body.expires_at)
  const seconds = (wanted.getTime() - at.getTime()) / 1000
  if (seconds >= ORDER_EXPIRES_IN_MIN_S && seconds <= ORDER_EXPIRES_IN_MAX_S) return wanted
  throw invalidField('expires_at', 'must lie between 10 seconds and 7 days ahead')
}
