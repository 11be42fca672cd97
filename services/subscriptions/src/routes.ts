import {
  ApiError,
  caller,
  createSubscription,
  id as idSchema,
  listSubscriptions,
  type MerchantTerms,
  updateSubscription,
} from '@ponte/contracts'
import { answerOnce, answersTo, type Database, keyedRequest, listPage, parseRequest, requireCaller, uuidv7At } from '@ponte/service-kit'
import { type Request, Router } from 'express'
import { z } from 'zod'
import { amend } from './amending'
import { charge } from './charging'
import { orderAnswer, sendOrder } from './order-answer'
import type { Arrivals } from './order-arrival'
import { merchantOf, toAmendment, toNewSubscription } from './requests'
import { mint } from './scheduler'
import type { Store } from './store'
import { isBeaten } from './store/commit'
import { cancel, open, type Subscription } from './subscription'
import { subscriptionBody } from './subscription-body'

export interface RouteDeps {
  database: Database
  store: Store
  arrivals: Arrivals
  publicUrl: string
  orderWaitMs: number
  now: () => Date
  tokenSecret: string
}

const CHARGES_SHOWN = 24
const BASE = '/api/v1/subscriptions'
const pathId = z.object({ id: idSchema })
const nothing = z.strictObject({})

export function routes(deps: RouteDeps): Router {
  const { store, now } = deps
  const router = Router()
  router.use(requireCaller({ secret: deps.tokenSecret, audience: 'subscriptions', schema: caller }))

  router.post(BASE, async (req, res) => {
    const terms = merchantOf(res)
    const body = parseRequest(createSubscription, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, async () => {
      requirePayout(terms)
      const at = now()
      const subscription = open(toNewSubscription(body, terms.merchant_id, uuidv7At(at), at), at)
      const answer = { status: 201, body: JSON.stringify(subscriptionBody(subscription)) }
      await store.insert(subscription, { terms, answers: answersTo(keyed, answer) })
      return answer
    })
  })

  router.get(BASE, async (req, res) => {
    const terms = merchantOf(res)
    const query = parseRequest(listSubscriptions, req.query, 'query')
    res.json(
      await listPage(
        query,
        limit => store.list(terms.merchant_id, query, limit),
        subscription => subscriptionBody(subscription),
      ),
    )
  })

  router.get(`${BASE}/:id`, async (req, res) => {
    const subscription = await owned(store, req, merchantOf(res))
    res.json(subscriptionBody(subscription, await store.charges(subscription.id, CHARGES_SHOWN)))
  })

  router.patch(`${BASE}/:id`, async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(pathId, req.params, 'path')
    const amendment = toAmendment(parseRequest(updateSubscription, req.body, 'body'))
    const next = await decided(store, req, terms, subscription => store.commit(amend(subscription, amendment, now(), mint()), { terms }))
    res.json(subscriptionBody(next))
  })

  router.post(`${BASE}/:id/charge`, async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    const work = async () => {
      requirePayout(terms)
      return decided(store, req, terms, async subscription => {
        const { attempt, outcome, ...change } = charge(subscription, now(), mint())
        const answer = orderAnswer(outcome === 'issued' ? 201 : 200, attempt.orderId)
        await store.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      })
    }
    await answerOnce(deps.database, keyed, res, work, answer => sendOrder(deps, res, answer))
  })

  router.post(`${BASE}/:id/cancel`, async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, () =>
      decided(store, req, terms, async subscription => {
        const change = cancel(subscription, now()) ?? { from: subscription, subscription, facts: [] }
        const answer = { status: 200, body: JSON.stringify(subscriptionBody(change.subscription)) }
        await store.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      }),
    )
  })

  return router
}

/** Finds the caller's subscription and lets `decide` commit on it; when somebody else was first, both are done again. */
async function decided<T>(
  store: Store,
  req: Request,
  terms: MerchantTerms,
  decide: (subscription: Subscription) => Promise<T>,
): Promise<T> {
  for (;;) {
    const subscription = await owned(store, req, terms)
    try {
      return await decide(subscription)
    } catch (error) {
      if (!isBeaten(error)) throw error
    }
  }
}

async function owned(store: Store, req: Request, terms: MerchantTerms): Promise<Subscription> {
  const { id } = parseRequest(pathId, req.params, 'path')
  const found = await store.find(id)
  if (!found) throw new ApiError('not_found', `There is no subscription ${id}.`)
  if (found.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This subscription belongs to another merchant.')
  return found
}

function requirePayout(terms: MerchantTerms): void {
  if (terms.payout_address !== null) return
  throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
}
