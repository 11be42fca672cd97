import { randomBytes } from 'node:crypto'
import {
  ApiError,
  type Caller,
  type DeletedEndpointBody,
  ENDPOINTS_MAX,
  type MerchantTerms,
  operations,
  TEST_EVENT,
} from '@ponte/contracts'
import {
  type Answer,
  answersTo,
  type Database,
  isStale,
  type KeyedRequest,
  type Logger,
  retryConflicts,
  sendAnswer,
  serve,
  serveOnce,
  uuidv7,
} from '@ponte/service-kit'
import type { Router } from 'express'
import { webhookBody } from '../delivery/webhook'
import { activateSecret, createEndpoint, type Endpoint, rotateSecret, type Seal, updateEndpoint } from '../endpoint/endpoint'
import { DELETED_MAX, type Store } from '../store'
import { maySeeSecrets, owned } from './caller'
import { deliveryAnswer, withDelivery } from './delivery-answer'
import { defaultEndpointBody, endpointBody, type Showing } from './endpoint-body'

export interface EndpointRouteDeps extends Showing {
  store: Store
  database: Database
  seal: Seal
  /** Called when something may be due. */
  due(endpointId: string): void
  logger: Logger
}

const NO_HEALTH = { failingSince: null, dead: 0 }
/** Receivers of Standard Webhooks read the key as base64. */
const mintSecret = () => `whsec_${randomBytes(32).toString('base64')}`

const shownTo = (caller: Caller) => ({ at: new Date(), withSecrets: maySeeSecrets(caller) })

/** Endpoints beside the `webhook_url`. */
export function endpointRoutes(router: Router, deps: EndpointRouteDeps): void {
  const { store, database, seal, unseal, logger } = deps

  const healthOf = async (terms: MerchantTerms, endpoints: readonly Endpoint[]) => {
    const health = await store.endpoints.health(terms.merchant_id, [terms.merchant_id, ...endpoints.map(({ id }) => id)])
    return (id: string) => health.get(id) ?? NO_HEALTH
  }
  const bodyOf = async (endpoint: Endpoint, terms: MerchantTerms, caller: Caller) =>
    endpointBody(endpoint, (await healthOf(terms, [endpoint]))(endpoint.id), deps, shownTo(caller))
  // Secrets are in it, and it is kept for a week.
  const sealed = (status: number, body: object, { merchant_id }: MerchantTerms): Answer => ({
    status,
    body: seal(JSON.stringify(body), merchant_id),
  })
  const opened = async ({ status, body }: Answer, { terms }: { terms: MerchantTerms }): Promise<Answer> => ({
    status,
    body: unseal(body, terms.merchant_id),
  })

  /** The gateway let a change pass by what the account was; an operator may have frozen it since. */
  const requireStanding = async ({ merchant_id, version }: MerchantTerms): Promise<void> => {
    const known = await store.merchants.find(merchant_id)
    if (known && known.version > version)
      throw new ApiError('invalid_state', 'The account was changed at this moment: look at it, and ask again.')
  }
  const own = async (id: string, terms: MerchantTerms): Promise<Endpoint> => {
    if (id === terms.merchant_id)
      throw new ApiError('invalid_state', 'This is your webhook_url; change it with PATCH /api/v1/merchants/me.')
    return owned(await store.endpoints.find(id), terms, `endpoint ${id}`)
  }

  interface Changing {
    params: { id: string }
    terms: MerchantTerms
    caller: Caller
    keyed?: KeyedRequest | null
  }
  /** Again after a concurrent change, unless it was of the account. */
  const retried = <T>(terms: MerchantTerms, work: () => Promise<T>): Promise<T> =>
    retryConflicts(() =>
      work().catch(async error => {
        if (isStale(error)) await requireStanding(terms)
        throw error
      }),
    )
  /** Finds, decides, commits. */
  const changed =
    (decide: (endpoint: Endpoint) => Endpoint) =>
    async ({ params, terms, caller, keyed = null }: Changing): Promise<Answer> => {
      const [before, after, answer] = await retried(terms, async () => {
        const before = await own(params.id, terms)
        const after = decide(before)
        const answer = sealed(200, await bodyOf(after, terms, caller), terms)
        await store.endpoints.update(before, after, terms, answersTo(keyed, answer))
        return [before, after, answer]
      })
      logger.info('endpoint changed', { merchant_id: before.merchantId, endpoint_id: before.id, paused: after.paused })
      deps.due(before.id)
      return answer
    }

  const removed = (id: string, terms: MerchantTerms): Promise<Endpoint> =>
    retried(terms, async () => {
      const endpoint = await own(id, terms)
      await store.endpoints.remove(endpoint, terms, new Date())
      return endpoint
    })

  serve(router, operations.listWebhookEndpoints, async ({ terms, caller }, _req, res) => {
    const [merchant, endpoints] = await Promise.all([store.merchants.find(terms.merchant_id), store.endpoints.list(terms.merchant_id)])
    const health = await healthOf(terms, endpoints)
    const main = defaultEndpointBody(terms.merchant_id, merchant?.webhookUrl ?? null, health(terms.merchant_id))
    const shown = shownTo(caller)
    const data = [main, ...endpoints.map(endpoint => endpointBody(endpoint, health(endpoint.id), deps, shown))]
    res.json({ object: 'list', data, has_more: false })
  })

  serveOnce(
    router,
    operations.createWebhookEndpoint,
    database,
    async ({ body, terms, caller, keyed }) => {
      const { merchant_id: merchantId } = terms
      const endpoint = createEndpoint(body, { id: uuidv7(), merchantId, secret: mintSecret(), at: new Date(), seal })
      const answer = sealed(201, endpointBody(endpoint, NO_HEALTH, deps, shownTo(caller)), terms)
      const outcome = await store.endpoints.insert(endpoint, terms, answersTo(keyed, answer)).catch(async (error: unknown) => {
        if (isStale(error)) await requireStanding(terms)
        throw error
      })
      if (outcome === 'deleted')
        throw new ApiError(
          'invalid_state',
          `You deleted ${DELETED_MAX} endpoints, which are kept as long as their deliveries: change one instead of deleting it, or wait until the oldest is gone.`,
        )
      if (outcome === 'full')
        throw new ApiError('invalid_state', `There may be ${ENDPOINTS_MAX} endpoints beside your webhook_url; delete one first.`)
      logger.info('endpoint created', { merchant_id: merchantId, endpoint_id: endpoint.id })
      return answer
    },
    opened,
  )

  serve(router, operations.getWebhookEndpoint, async ({ params, terms, caller }, _req, res) => {
    res.json(await bodyOf(await own(params.id, terms), terms, caller))
  })

  serve(router, operations.updateWebhookEndpoint, async (asked, _req, res) => {
    sendAnswer(res, await opened(await changed(endpoint => updateEndpoint(endpoint, asked.body, seal))(asked), asked))
  })

  serve(router, operations.deleteWebhookEndpoint, async ({ params, terms }, _req, res) => {
    const endpoint = await removed(params.id, terms)
    logger.info('endpoint deleted', { merchant_id: endpoint.merchantId, endpoint_id: endpoint.id })
    deps.due(endpoint.id)
    const body: DeletedEndpointBody = { object: 'webhook_endpoint', id: endpoint.id, deleted: true }
    res.json(body)
  })

  const rotate = changed(endpoint => rotateSecret(endpoint, mintSecret(), new Date(), seal))
  serveOnce(router, operations.rotateEndpointSecret, database, rotate, async (answer, asked) => {
    const { status, body } = await opened(answer, asked)
    // The one that is in force was made by another request.
    return { status, body: JSON.stringify({ ...JSON.parse(body), secret: null }) }
  })

  const activate = changed(endpoint => activateSecret(endpoint, new Date()))
  serveOnce(router, operations.activateEndpointSecret, database, activate, opened)

  serveOnce(
    router,
    operations.testWebhookEndpoint,
    database,
    async ({ params, terms, keyed }) => {
      const endpoint = await own(params.id, terms)
      if (endpoint.paused) throw new ApiError('invalid_state', 'The endpoint is paused; resume it first.')
      const eventId = uuidv7()
      const body = webhookBody(TEST_EVENT, { id: eventId, message: 'This is a test. Nothing was paid.' })
      const deliveryId = uuidv7()
      const answer = deliveryAnswer(201, deliveryId)
      const test = { eventId, deliveryId, merchantVersion: terms.version, type: TEST_EVENT, body }
      await store.endpoints.test(endpoint, test, answersTo(keyed, answer))
      deps.due(endpoint.id)
      return answer
    },
    answer => withDelivery(store, answer),
  )
}
