import { randomBytes } from 'node:crypto'
import {
  ApiError,
  createEndpoint as createBody,
  type DeletedEndpointBody,
  ENDPOINTS_MAX,
  type MerchantTerms,
  TEST_EVENT,
  updateEndpoint as updateBody,
} from '@ponte/contracts'
import { isStale, type Logger, parseRequest, uuidv7 } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { deliveryBody } from '../bodies'
import { webhookBody } from '../delivery'
import { activateSecret, createEndpoint, type Endpoint, rotateSecret, type Seal, updateEndpoint } from '../endpoint'
import type { Store } from '../store'
import { maySeeSecrets, merchantOf, owned, pathId } from './caller'
import { defaultEndpointBody, endpointBody, type Showing } from './endpoint-body'

export interface EndpointRouteDeps extends Showing {
  store: Store
  seal: Seal
  /** Called when something may be due. */
  due(endpointId: string): void
  logger: Logger
}

const PATH = '/api/v1/webhook-endpoints'
const NO_HEALTH = { failingSince: null, dead: 0 }
const RACES_MAX = 20
const nothing = z.strictObject({})
/** Receivers of Standard Webhooks read the key as base64. */
const mintSecret = () => `whsec_${randomBytes(32).toString('base64')}`

const shownTo = (res: Response) => ({ at: new Date(), withSecrets: maySeeSecrets(res) })

/** Endpoints beside the `webhook_url`. */
export function endpointRoutes(deps: EndpointRouteDeps): Router {
  const { store, seal, logger } = deps
  const router = Router()

  const healthOf = async (terms: MerchantTerms, endpoints: readonly Endpoint[]) => {
    const health = await store.endpoints.health(terms.merchant_id, [terms.merchant_id, ...endpoints.map(({ id }) => id)])
    return (id: string) => health.get(id) ?? NO_HEALTH
  }
  const answer = async (res: Response, endpoint: Endpoint, status = 200) => {
    const health = await healthOf(merchantOf(res), [endpoint])
    res.status(status).json(endpointBody(endpoint, health(endpoint.id), deps, shownTo(res)))
  }

  const own = async (req: Request, res: Response): Promise<Endpoint> => {
    const { id } = parseRequest(pathId, req.params, 'path')
    if (id === merchantOf(res).merchant_id)
      throw new ApiError('invalid_state', 'This is your webhook_url; change it with PATCH /api/v1/merchants/me.')
    return owned(await store.endpoints.find(id), merchantOf(res), `endpoint ${id}`)
  }

  /** Finds, decides, commits; again after a concurrent change. */
  const changed = async (req: Request, res: Response, decide: (endpoint: Endpoint) => Endpoint): Promise<Endpoint> => {
    for (let race = 1; ; race += 1) {
      const before = await own(req, res)
      const after = decide(before)
      try {
        await store.endpoints.update(before, after)
        logger.info('endpoint changed', { merchant_id: before.merchantId, endpoint_id: before.id, paused: after.paused })
        deps.due(before.id)
        return after
      } catch (error) {
        if (!isStale(error) || race === RACES_MAX) throw error
      }
    }
  }

  const removed = async (req: Request, res: Response): Promise<Endpoint> => {
    for (let race = 1; ; race += 1) {
      const endpoint = await own(req, res)
      try {
        await store.endpoints.remove(endpoint, new Date())
        return endpoint
      } catch (error) {
        if (!isStale(error) || race === RACES_MAX) throw error
      }
    }
  }

  router.get(PATH, async (_req, res) => {
    const terms = merchantOf(res)
    const [merchant, endpoints] = await Promise.all([store.merchants.find(terms.merchant_id), store.endpoints.list(terms.merchant_id)])
    const health = await healthOf(terms, endpoints)
    const main = defaultEndpointBody(terms.merchant_id, merchant?.webhookUrl ?? null, health(terms.merchant_id))
    const shown = shownTo(res)
    const data = [main, ...endpoints.map(endpoint => endpointBody(endpoint, health(endpoint.id), deps, shown))]
    res.json({ object: 'list', data, has_more: false })
  })

  router.post(PATH, async (req, res) => {
    const body = parseRequest(createBody, req.body, 'body')
    const { merchant_id: merchantId } = merchantOf(res)
    const endpoint = createEndpoint(body, { id: uuidv7(), merchantId, secret: mintSecret(), at: new Date(), seal })
    if (!(await store.endpoints.insert(endpoint)))
      throw new ApiError('invalid_state', `There may be ${ENDPOINTS_MAX} endpoints beside your webhook_url; delete one first.`)
    logger.info('endpoint created', { merchant_id: merchantId, endpoint_id: endpoint.id })
    await answer(res, endpoint, 201)
  })

  router.get(`${PATH}/:id`, async (req, res) => answer(res, await own(req, res)))

  router.patch(`${PATH}/:id`, async (req, res) => {
    const body = parseRequest(updateBody, req.body, 'body')
    await answer(res, await changed(req, res, endpoint => updateEndpoint(endpoint, body, seal)))
  })

  router.delete(`${PATH}/:id`, async (req, res) => {
    const endpoint = await removed(req, res)
    logger.info('endpoint deleted', { merchant_id: endpoint.merchantId, endpoint_id: endpoint.id })
    deps.due(endpoint.id)
    const body: DeletedEndpointBody = { object: 'webhook_endpoint', id: endpoint.id, deleted: true }
    res.json(body)
  })

  router.post(`${PATH}/:id/rotate-secret`, async (req, res) => {
    parseRequest(nothing, req.body, 'body')
    await answer(res, await changed(req, res, endpoint => rotateSecret(endpoint, mintSecret(), new Date(), seal)))
  })

  router.post(`${PATH}/:id/activate-secret`, async (req, res) => {
    parseRequest(nothing, req.body, 'body')
    await answer(res, await changed(req, res, endpoint => activateSecret(endpoint, new Date())))
  })

  router.post(`${PATH}/:id/test`, async (req, res) => {
    parseRequest(nothing, req.body, 'body')
    const endpoint = await own(req, res)
    if (endpoint.paused) throw new ApiError('invalid_state', 'The endpoint is paused; resume it first.')
    const eventId = uuidv7()
    const body = webhookBody(TEST_EVENT, { id: eventId, message: 'This is a test. Nothing was paid.' })
    const deliveryId = uuidv7()
    const { version } = merchantOf(res)
    await store.endpoints.test(endpoint, { eventId, deliveryId, merchantVersion: version, type: TEST_EVENT, body })
    deps.due(endpoint.id)
    const row = await store.deliveries.find(deliveryId)
    if (!row) throw new Error('A test event left no delivery.')
    res.status(201).json(deliveryBody(row))
  })
  return router
}
