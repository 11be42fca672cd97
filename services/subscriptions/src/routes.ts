import { randomUUID } from 'node:crypto'
import { ApiError, caller, type ErasedCustomers, type MerchantTerms, operations, termsOf, userIdOf } from '@ponte/contracts'
import {
  answersTo,
  csvPage,
  type Database,
  requireCaller,
  retryConflicts,
  searchedPage,
  sendCsv,
  serve,
  serveOnce,
  uuidv7At,
} from '@ponte/service-kit'
import { Router } from 'express'
import { orderAnswer, withOrder } from './api/order-answer'
import type { OrderWaits } from './api/order-wait'
import { customerAlone, toAmendment, toNewSubscription } from './api/requests'
import { CHARGES_SHOWN, subscriptionBody, subscriptionColumns } from './api/subscription-body'
import { payerRoutes } from './payer/payer-routes'
import { mint } from './scheduler'
import { isConflict, type Store } from './store'
import { amend, rename } from './subscription/amendment'
import { charge } from './subscription/charges'
import { cancel } from './subscription/end'
import { accept } from './subscription/order-outcome'
import { type Charge, type Dunning, open, type Subscription } from './subscription/subscription'

export interface RouteDeps {
  database: Database
  store: Store
  orderWaits: OrderWaits
  publicUrl: string
  /** Real money moves here. */
  livemode: boolean
  orderWaitMs: number
  /** Default for an unpaid plan when the merchant does not choose. */
  dunning: Dunning
  now: () => Date
  tokenSecrets: readonly string[]
}

export function routes(deps: RouteDeps): Router {
  const { store, now } = deps
  const bodyOf = (subscription: Subscription, charges?: readonly Charge[]) =>
    subscriptionBody(subscription, { at: now(), publicUrl: deps.publicUrl, livemode: deps.livemode }, charges)
  const router = Router()
  router.use(requireCaller({ secrets: deps.tokenSecrets, audience: 'subscriptions', schema: caller }))
  payerRoutes(router, deps)

  serveOnce(router, operations.createSubscription, deps.database, async ({ body, terms, keyed }) => {
    requirePayout(terms)
    const at = now()
    const origin = { merchantId: terms.merchant_id, id: uuidv7At(at), payerToken: randomUUID(), dunning: deps.dunning }
    const subscription = open(toNewSubscription(body, origin, at), at)
    const answer = { status: 201, body: JSON.stringify(bodyOf(subscription)) }
    await store.subscriptions.insert(subscription, { terms, answers: answersTo(keyed, answer) })
    return answer
  })

  serve(router, operations.listSubscriptions, async ({ query, terms }, _req, res) => {
    res.json(
      await searchedPage(
        query,
        limit => store.subscriptions.list(terms.merchant_id, query, limit),
        found => bodyOf(found),
      ),
    )
  })

  serve(router, operations.exportSubscriptions, async ({ query, terms: { merchant_id } }, req, res) => {
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

  serve(router, operations.getSubscription, async ({ params, terms }, _req, res) => {
    const subscription = await owned(store, params.id, terms)
    res.json(bodyOf(subscription, await store.subscriptions.latestCharges(subscription.id, CHARGES_SHOWN)))
  })

  serve(router, operations.updateSubscription, async ({ params, body, terms }, _req, res) => {
    const next = await decided(store, params.id, terms, subscription => {
      const at = now()
      const customer = customerAlone(body, at)
      if (customer !== undefined) return store.subscriptions.commit(rename(subscription, customer), { terms })
      const means = { ...mint(at), hasPayoutAddress: terms.payout_address !== null }
      return store.subscriptions.commit(amend(subscription, toAmendment(body, subscription.dunning, at), at, means), { terms })
    })
    res.json(bodyOf(next))
  })

  serve(router, operations.eraseSubscriptionCustomers, async ({ body, caller: by }, _req, res) => {
    res.json({ erased: await store.subscriptions.eraseCustomers(termsOf(by).merchant_id, body) } satisfies ErasedCustomers)
  })

  serveOnce(
    router,
    operations.chargeSubscription,
    deps.database,
    async ({ params, terms, keyed }) => {
      requirePayout(terms)
      return decided(store, params.id, terms, async subscription => {
        const at = now()
        const { attempt, outcome, ...change } = charge(subscription, at, mint(at))
        const isNew = outcome === 'issued'
        const current = isNew ? null : await store.orders.current(attempt.orderId)
        const answer = current === null ? orderAnswer(isNew ? 201 : 200, attempt.orderId) : { status: 200, body: current }
        await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      })
    },
    (answer, { params }) => withOrder(deps, params.id, answer),
  )

  serveOnce(router, operations.cancelSubscription, deps.database, ({ params, terms, keyed }) =>
    decided(store, params.id, terms, async subscription => {
      const change = cancel(subscription, now()) ?? { from: subscription, subscription, facts: [] }
      const answer = { status: 200, body: JSON.stringify(bodyOf(change.subscription)) }
      await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
      return answer
    }),
  )

  serveOnce(router, operations.acceptCharge, deps.database, ({ params: { id, period_index: periodIndex }, caller: by, terms, keyed }) =>
    decided(
      store,
      id,
      terms,
      async subscription => {
        const change = accept(subscription, periodIndex, userIdOf(by), now())
        // A plan and its charges are read one after the other: one that was paid in between is shown with its plan as it is now.
        const shown = change.facts.length > 0 ? change.subscription : await owned(store, id, terms)
        const answer = { status: 200, body: JSON.stringify(bodyOf(shown)) }
        await store.subscriptions.commit(change, { terms, answers: answersTo(keyed, answer) })
        return answer
      },
      periodIndex,
    ),
  )

  return router
}

/** Finds the caller's subscription and lets `decide` commit on it; both again when another commit was first. */
const decided = <T>(
  store: Store,
  id: string,
  terms: MerchantTerms,
  decide: (subscription: Subscription) => Promise<T>,
  fromPeriod?: number,
): Promise<T> => retryConflicts(async () => decide(await owned(store, id, terms, fromPeriod)), isConflict)

async function owned(store: Store, id: string, terms: MerchantTerms, fromPeriod?: number): Promise<Subscription> {
  const found = await store.subscriptions.find(id, fromPeriod)
  if (!found) throw new ApiError('not_found', `There is no subscription ${id}.`)
  if (found.merchantId !== terms.merchant_id) throw new ApiError('forbidden', 'This subscription belongs to another merchant.')
  return found
}

function requirePayout(terms: MerchantTerms): void {
  if (terms.payout_address !== null) return
  throw new ApiError('payout_address_required', 'Set payout_address with PATCH /api/v1/merchants/me: it is where your share is sent.')
}
