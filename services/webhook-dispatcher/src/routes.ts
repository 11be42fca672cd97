import {
  ApiError,
  caller,
  type DeliveryDetailBody,
  type DeliveryOverview,
  type EventListBody,
  type MerchantTerms,
  operations,
  type ReplayedBody,
  termsOf,
} from '@ponte/contracts'
import {
  type Answer,
  answersTo,
  csvPage,
  cursorAt,
  cursorText,
  listPage,
  type NumberedHistory,
  requireCaller,
  searchedPage,
  sendCsv,
  serve,
  serveOnce,
} from '@ponte/service-kit'
import { type Response, Router } from 'express'
import { owned } from './api/caller'
import { deliveryAnswer, withDelivery } from './api/delivery-answer'
import { type EndpointRouteDeps, endpointRoutes } from './api/endpoint-routes'
import { attemptBody, deliveryBody, deliveryColumns, eventBody } from './bodies'
import type { Pull, PullQuery } from './pull'
import { type Pulled, REPLAYS_MAX, type Replay, type Replayed, type Store } from './store'

export interface RouteDeps {
  store: Store
  pull: Pull
  /** Real money moves here. */
  livemode: boolean
  retentionDays: number
  tokenSecrets: readonly string[]
  endpoints: EndpointRouteDeps
  /** Called when something may be due. */
  due(endpointId: string): void
}

const REPLAY_LIMIT = 10_000
const COPY_WAIT_MS = 2_000
const COPY_POLL_MS = 25

export function routes(deps: RouteDeps): Router {
  const { store, pull, livemode } = deps
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'webhook-dispatcher', schema: caller }))
  endpointRoutes(router, deps.endpoints)

  serve(router, operations.listEvents, async ({ query, terms: { merchant_id } }, _req, res) => {
    if (query.after !== undefined) return void res.json(await pulled(pull, merchant_id, { ...query, livemode, after: query.after }, res))
    let history: NumberedHistory | undefined
    const find = async (limit: number) => {
      const found = await store.events.list(merchant_id, query, limit)
      // Looked up after the rows, which it has to know.
      history = await store.events.history(merchant_id)
      return found
    }
    res.json(
      await searchedPage(
        query,
        find,
        eventBody({ ...query, livemode }, () => history),
      ),
    )
  })

  serve(router, operations.getEvent, async ({ params: { id }, query, terms }, _req, res) => {
    const event = owned(await store.events.find(id), terms, `event ${id}`)
    const history = await store.events.history(terms.merchant_id)
    res.json(eventBody({ ...query, livemode }, () => history)(event))
  })

  serve(router, operations.listDeliveries, async ({ query, terms: { merchant_id } }, _req, res) => {
    res.json(await searchedPage(query, limit => store.deliveries.list(merchant_id, query, limit), deliveryBody))
  })

  serve(router, operations.exportDeliveries, async ({ query, terms: { merchant_id } }, req, res) => {
    await sendCsv(req, res, {
      name: 'deliveries',
      columns: deliveryColumns,
      page: async (place, limit) => {
        const { rows, searchedTo } = await store.deliveries.list(merchant_id, { ...query, ...place }, limit)
        return csvPage(rows.map(deliveryBody), limit, searchedTo)
      },
    })
  })

  serve(router, operations.countDeliveries, async ({ caller }, _req, res) => {
    const overview: DeliveryOverview = { object: 'delivery_overview', ...(await store.deliveries.overview(termsOf(caller).merchant_id)) }
    res.json(overview)
  })

  serve(router, operations.getDelivery, async ({ params: { id }, terms }, _req, res) => {
    const found = owned(await store.deliveries.detail(id), terms, `delivery ${id}`)
    const attempt_log = found.attemptLog.map(attemptBody)
    const detail: DeliveryDetailBody = { ...deliveryBody(found), url: found.url, attempt_log, body: found.body.toString('utf8') }
    res.json(detail)
  })

  serveOnce(router, operations.replayDeliveries, deps.endpoints.database, async ({ body: range, terms, keyed }) => {
    const endpointId = range.endpoint_id ?? terms.merchant_id
    await requireDestination(store, terms, endpointId)
    const answerOf = ({ replayed, nextAt }: Replayed): Answer => {
      const body: ReplayedBody = { object: 'replay', replayed, has_more: nextAt !== null, next_created_gte: nextAt?.toISOString() ?? null }
      return { status: 200, body: JSON.stringify(body) }
    }
    const answersOf = (done: Replayed) => answersTo(keyed, answerOf(done))
    const done = await store.replays.range(terms.merchant_id, endpointId, range, REPLAY_LIMIT, {
      retentionDays: deps.retentionDays,
      answersOf,
    })
    deps.due(endpointId)
    return answerOf(done)
  })

  serveOnce(
    router,
    operations.replayDelivery,
    deps.endpoints.database,
    async ({ params: { id }, terms, keyed }) => {
      const delivery = owned(await store.deliveries.find(id), terms, `delivery ${id}`)
      const endpointId = delivery.endpointId ?? delivery.merchantId
      await requireDestination(store, terms, endpointId)
      const answerOf = (replay: Replay) => deliveryAnswer(replay.made ? 201 : 200, replay.id)
      const replay = await store.replays.one(id, deps.retentionDays, made => answersTo(keyed, answerOf(made)))
      if (replay === 'gone') throw new ApiError('not_found', `There is no delivery ${id} any more.`)
      if (replay === 'full')
        throw new ApiError('invalid_state', `This event was delivered again ${REPLAYS_MAX} times, which is as often as it may be.`)
      deps.due(endpointId)
      return answerOf(replay)
    },
    answer => withDelivery(store, answer),
  )

  return router
}

/** A page from a sequence on, and where the next one begins: the same place when there was nothing. */
async function pulled(pull: Pull, merchantId: string, query: PullQuery & { livemode: boolean }, res: Response): Promise<EventListBody> {
  const gone = new AbortController()
  res.on('close', () => gone.abort())
  let looked: Pick<Pulled, 'lookedTo' | 'isEnded' | 'history'> | undefined
  const find = async (limit: number) => {
    const { rows, ...rest } = await pull.next(merchantId, query, limit, gone.signal)
    looked = rest
    return rows
  }
  const list = await listPage(
    { limit: query.limit },
    find,
    eventBody(query, () => looked?.history),
  )
  const lookedTo = looked?.lookedTo ?? query.after.sequence
  const next = list.has_more ? (list.data.at(-1)?.sequence ?? lookedTo) : lookedTo
  const has_more = list.has_more || looked?.isEnded === true
  return { ...list, has_more, next_cursor: cursorText(cursorAt(looked?.history, next)), next_after: next }
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
