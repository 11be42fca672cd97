import {
  ApiError,
  caller,
  type DeliveryDetailBody,
  type DeliveryOverview,
  type EventListBody,
  eventQuery,
  exportDeliveries,
  listDeliveries,
  listEvents,
  type MerchantTerms,
  type ReplayedBody,
  replayDeliveries,
} from '@ponte/contracts'
import { csvPage, listPage, parseRequest, requireCaller, searchedPage, sendCsv } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { deliveryColumns, merchantOf, owned, pathId } from './api'
import { attemptBody, deliveryBody, eventBody } from './bodies'
import type { Pull, PullQuery } from './pull'
import type { Store } from './store'

export interface RouteDeps {
  store: Store
  pull: Pull
  tokenSecrets: readonly string[]
  /** Routes of endpoints. */
  endpoints: Router
  /** Called when something may be due. */
  due(endpointId: string): void
}

const REPLAY_LIMIT = 10_000
const COPY_WAIT_MS = 2_000
const COPY_POLL_MS = 25

export function routes(deps: RouteDeps): Router {
  const { store, pull } = deps
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'webhook-dispatcher', schema: caller }))
  router.use(deps.endpoints)

  router.get('/api/v1/events', async (req, res) => {
    const query = parseRequest(listEvents, req.query, 'query')
    const { merchant_id } = merchantOf(res)
    if (query.after !== undefined) return void res.json(await pulled(pull, merchant_id, { ...query, after: query.after }, res))
    res.json(await searchedPage(query, limit => store.events.list(merchant_id, query, limit), eventBody(query)))
  })

  router.get('/api/v1/events/:id', async (req, res) => {
    const { id } = parseRequest(pathId, req.params, 'path')
    const query = parseRequest(eventQuery, req.query, 'query')
    res.json(eventBody(query)(owned(await store.events.find(id), merchantOf(res), `event ${id}`)))
  })

  router.get('/api/v1/deliveries', async (req, res) => {
    const query = parseRequest(listDeliveries, req.query, 'query')
    const { merchant_id } = merchantOf(res)
    res.json(await searchedPage(query, limit => store.deliveries.list(merchant_id, query, limit), deliveryBody))
  })

  router.get('/api/v1/deliveries.csv', async (req, res) => {
    const query = parseRequest(exportDeliveries, req.query, 'query')
    const { merchant_id } = merchantOf(res)
    await sendCsv(req, res, {
      name: 'deliveries',
      columns: deliveryColumns,
      page: async (place, limit) => {
        const { rows, searchedTo } = await store.deliveries.list(merchant_id, { ...query, ...place }, limit)
        return csvPage(rows.map(deliveryBody), limit, searchedTo)
      },
    })
  })

  router.get('/api/v1/deliveries/overview', async (_req, res) => {
    const overview: DeliveryOverview = { object: 'delivery_overview', ...(await store.deliveries.overview(merchantOf(res).merchant_id)) }
    res.json(overview)
  })

  router.get('/api/v1/deliveries/:id', async (req, res) => {
    const { id } = parseRequest(pathId, req.params, 'path')
    const found = owned(await store.deliveries.detail(id), merchantOf(res), `delivery ${id}`)
    const attempt_log = found.attemptLog.map(attemptBody)
    const detail: DeliveryDetailBody = { ...deliveryBody(found), url: found.url, attempt_log, body: found.body.toString('utf8') }
    res.json(detail)
  })

  router.post('/api/v1/deliveries/replay', async (req, res) => {
    const terms = merchantOf(res)
    const range = parseRequest(replayDeliveries, req.body, 'body')
    const endpointId = range.endpoint_id ?? terms.merchant_id
    await requireDestination(store, terms, endpointId)
    const { replayed, nextAt } = await store.replays.range(terms.merchant_id, endpointId, range, REPLAY_LIMIT)
    deps.due(endpointId)
    const answer: ReplayedBody = { object: 'replay', replayed, has_more: nextAt !== null, next_created_gte: nextAt?.toISOString() ?? null }
    res.json(answer)
  })

  router.post('/api/v1/deliveries/:id/replay', async (req, res) => {
    parseRequest(z.strictObject({}), req.body, 'body')
    const delivery = await ownDelivery(store, req, res)
    const endpointId = delivery.endpointId ?? delivery.merchantId
    await requireDestination(store, merchantOf(res), endpointId)
    const replay = await store.replays.one(delivery.id)
    const row = replay && (await store.deliveries.find(replay.id))
    if (!row) throw new ApiError('not_found', `There is no delivery ${delivery.id} any more.`)
    deps.due(endpointId)
    res.status(replay.made ? 201 : 200).json(deliveryBody(row))
  })

  return router
}

/** A page from a sequence on, and where the next one begins: the same place when there was nothing. */
async function pulled(pull: Pull, merchantId: string, query: PullQuery, res: Response): Promise<EventListBody> {
  const gone = new AbortController()
  res.on('close', () => gone.abort())
  let looked = { lookedTo: query.after, isEnded: false }
  const find = async (limit: number) => {
    const { rows, ...rest } = await pull.next(merchantId, query, limit, gone.signal)
    looked = rest
    return rows
  }
  const list = await listPage({ limit: query.limit }, find, eventBody(query))
  if (list.has_more) return { ...list, next_after: list.data.at(-1)?.sequence ?? query.after }
  return { ...list, has_more: looked.isEnded, next_after: looked.lookedTo }
}

async function ownDelivery(store: Store, req: Request, res: Response) {
  const { id } = parseRequest(pathId, req.params, 'path')
  return owned(await store.deliveries.find(id), merchantOf(res), `delivery ${id}`)
}

/** Something is sent only where there is something to send to. Throws `not_found`, `forbidden` or `invalid_state`. */
async function requireDestination(store: Store, terms: MerchantTerms, endpointId: string): Promise<void> {
  if (endpointId === terms.merchant_id) return requireWebhookUrl(store, terms)
  owned(await store.endpoints.find(endpointId), terms, `endpoint ${endpointId}`)
}

/** A replay goes to the merchant's webhook_url as it is now, so our copy must be as new as what the gateway knows. */
async function requireWebhookUrl(store: Store, terms: MerchantTerms): Promise<void> {
  for (let waitedMs = 0; waitedMs <= COPY_WAIT_MS; waitedMs += COPY_POLL_MS) {
    const copy = await store.merchants.find(terms.merchant_id)
    if (copy && copy.version >= terms.version) {
      if (copy.webhookUrl !== null) return
      throw new ApiError('invalid_state', 'There is no webhook_url to deliver to; set one first.')
    }
    await new Promise(resolve => setTimeout(resolve, COPY_POLL_MS))
  }
  throw new ApiError('service_unavailable', 'Your latest settings have not arrived here yet; try again shortly.', { retryAfterS: 2 })
}
