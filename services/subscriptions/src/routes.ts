import { randomUUID } from 'node:crypto'
import {
  ApiError,
  caller,
  createSubscription,
  exportSubscriptions,
  id as idSchema,
  listSubscriptions,
  type MerchantTerms,
  periodIndexInPath,
  termsOf,
  updateSubscription,
} from '@ponte/contracts'
import {
  answerOnce,
  answersTo,
  csvPage,
  type Database,
  keyedRequest,
  parseRequest,
  requireCaller,
  retryConflicts,
  searchedPage,
  sendAnswer,
  sendCsv,
  uuidv7At,
} from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import {
  CHARGES_SHOWN,
  type OrderWaits,
  orderAnswer,
  subscriptionBody,
  subscriptionColumns,
  toAmendment,
  toNewSubscription,
  withOrder,
} from './api'
import { payerRoutes } from './payer'
import { mint } from './scheduler'
import { type AskedCharge, isConflict, type Store } from './store'
import { accept, amend, type Charge, cancel, charge, type Dunning, open, type Subscription } from './subscription'

export interface RouteDeps {
  database: Database
  store: Store
  orderWaits: OrderWaits
  publicUrl: string
  orderWaitMs: number
  /** What is done about an unpaid plan when the merchant does not choose. */
  dunning: Dunning
  now: () => Date
  tokenSecrets: readonly string[]
}

const BASE = '/api/v1/subscriptions'
const pathId = z.object({ id: idSchema })
const periodPath = z.object({ period_index: periodIndexInPath })
const nothing = z.strictObject({})

export function routes(deps: RouteDeps): Router {
  const { store, now } = deps
  const bodyOf = (subscription: Subscription, charges?: readonly Charge[]) =>
    subscriptionBody(subscription, { at: now(), publicUrl: deps.publicUrl }, charges)
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'subscriptions', schema: caller }))
  router.use(payerRoutes(deps))

  router.post(BASE, async (req, res) => {
    const terms = merchantOf(res)
    const body = parseRequest(createSubscription, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, async () => {
      requirePayout(terms)
      const at = now()
      const origin = { merchantId: terms.merchant_id, id: uuidv7At(at), payerToken: randomUUID(), dunning: deps.dunning }
      const subscription = open(toNewSubscription(body, origin, at), at)
      const answer = { status: 201, body: JSON.stringify(bodyOf(subscription)) }
      await store.subscriptions.insert(subscription, { terms, answers: answersTo(keyed, answer) })
      return answer
    })
  })

  router.get(BASE, async (req, res) => {
    const terms = merchantOf(res)
    const query = parseRequest(listSubscriptions, req.query, 'query')
    res.json(
      await searchedPage(
        query,
        limit => store.subscriptions.list(terms.merchant_id, query, limit),
        found => bodyOf(found),
      ),
    )
  })

  router.get(`${BASE}.csv`, async (req, res) => {
    const query = parseRequest(exportSubscriptions, req.query, 'query')
    const { merchant_id } = merchantOf(res)
    const shown = (found: Subscription) => bodyOf(found)
    await sendCsv(req, res, {
      name: 'subscriptions',
      columns: subscriptionColumns,
      page: async (place, limit) => {
        const { rows, searchedTo } = await store.subscriptions.list(merchant_id, { ...query, ...place }, limit)
        return csvPage(rows.map(shown), limit, searchedTo)
      },
    })
  })

  router.get(`${BASE}/:id`, async (req, res) => {
    const subscription = await owned(store, req, merchantOf(res))
    res.json(bodyOf(subscription, await store.subscriptions.latestCharges(subscription.id, CHARGES_SHOWN)))
  })

  router.patch(`${BASE}/:id`, async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(pathId, req.params, 'path')
    const body = parseRequest(updateSubscription, req.body, 'body')
    const next = await decided(store, req, terms, subscription => {
      const means = { ...mint(), hasPayoutAddress: terms.payout_address !== null }
      return store.subscriptions.commit(amend(subscription, toAmendment(body, subscription.dunning), now(), means), { terms })
    })
    res.json(bodyOf(next))
  })

  router.post(`${BASE}/:id/charge`, async (req, res) => {
    const terms = merchantOf(res)
    const { id } = parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    const work = async () => {
      requirePayout(terms)
      return decided(store, req, terms, async subscription => {
        const { attempt, outcome, ...change } = charge(subscription, now(), mint())
        const isNew = outcome === 'issued'
        const current = isNew ? null : await store.orders.current(attempt.orderId)
        const answer = current === null ? orderAnswer(isNew ? 201 : 200, attempt.orderId) : { status: 200, body: current }
        await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      })
    }
    await answerOnce(deps.database, keyed, res, work, async answer => sendAnswer(res, await withOrder(deps, id, answer)))
  })

  router.post(`${BASE}/:id/cancel`, async (req, res) => {
    const terms = merchantOf(res)
    parseRequest(pathId, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, () =>
      decided(store, req, terms, async subscription => {
        const change = cancel(subscription, now()) ?? { from: subscription, subscription, facts: [] }
        const answer = { status: 200, body: JSON.stringify(bodyOf(change.subscription)) }
        await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      }),
    )
  })

  router.post(`${BASE}/:id/charges/:period_index/accept`, async (req, res) => {
    const terms = merchantOf(res)
    const { period_index: periodIndex } = parseRequest(periodPath, req.params, 'path')
    parseRequest(nothing, req.body, 'body')
    const keyed = keyedRequest(req, terms.merchant_id)
    await answerOnce(deps.database, keyed, res, () =>
      decided(
        store,
        req,
        terms,
        async subscription => {
          const change = accept(subscription, periodIndex, now())
          // A plan and its charges are read one after the other: one that was paid in between is shown with its plan as it is now.
          const shown = change.facts.length > 0 ? change.subscription : await owned(store, req, terms)
          const answer = { status: 200, body: JSON.stringify(bodyOf(shown)) }
          await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
          return answer
        },
        { periodIndex },
      ),
    )
  })

  return router
}

const merchantOf = (res: Response): MerchantTerms => termsOf(res.locals.caller)

/** Finds the caller's subscription and lets `decide` commit on it; both again when another commit was first. */
const decided = <T>(
  store: Store,
  req: Request,
  terms: MerchantTerms,
  decide: (subscription: Subscription) => Promise<T>,
  asked?: AskedCharge,
): Promise<T> => retryConflicts(async () => decide(await owned(store, req, terms, asked)), isConflict)

async function owned(store: Store, req: Request, terms: MerchantTerms, asked?: AskedCharge): Promise<Subscription> {
  const { id } = parseRequest(pathId, req.params, 'path')
  const found = await store.subscriptions.find(id, asked)
  if (!found) throw new ApiError('not_found', `There is no subscription ${id}.`)
  if (found.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This subscription belongs to another merchant.')
  return found
}

function requirePayout(terms: MerchantTerms): void {
  if (terms.payout_address !== null) return
  throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
}
