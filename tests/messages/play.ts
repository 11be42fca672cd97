import type {
  AttentionItemBody,
  List,
  MailPreferencesBody,
  MerchantWithKeyBody,
  OrderBody,
  RecoveryBody,
  RecoveryListBody,
  RefundBody,
  RefundClaimBody,
  SubscriptionBody,
  WebhookEndpointBody,
} from '@ponte/contracts'
import { type Message, signCaller } from '@ponte/service-kit'
import { createRandom } from '@ponte/service-kit/testing'
import { Wallet } from 'ethers'
import { type Ask, type Books, readBooks } from './books'
import { type ChainFacts, message, PAYER } from './chain-facts'
import { type BusKind, type Home, type Services, startServices } from './home'
import { startReceiver } from './receiver'
import {
  ACCEPTED,
  ANOTHER_MEMO,
  ATTACHED,
  CANCELLED,
  newOrder,
  orderStories,
  type PlanStory,
  planStories,
  RETURNED,
  STEPS,
  TWICE,
} from './stories'

/** Behind the end of every order. */
const AFTER_S = 7_200

/** One run of all stories on a bus: what the merchant sees at its end, the types that were published, and what no reader could handle. */
export async function playOn(home: Home, kind: BusKind, chain: ChainFacts, seed: number | null, replicas = 2) {
  const services = await startServices(home, kind, replicas)
  try {
    const books = await play(home, services, chain, seed)
    return { books, types: services.bus.types, counts: services.bus.counts, dead: await services.dead() }
  } finally {
    await services.stop()
  }
}

/** One run of all stories, of a merchant of its own: in order when there is no seed, shuffled, repeated and delayed by the seed when there is. */
async function play(home: Home, services: Services, chain: ChainFacts, seed: number | null): Promise<Books> {
  const { bus, settle } = services
  const random = createRandom(seed ?? 0)
  const receiver = await startReceiver()
  const logIn = await home.signUp()
  const asker =
    (credential: string): Ask =>
    (method, path, body) =>
      call(`${home.place.publicUrl}/api/v1`, method, path, credential, body)
  const user = asker(await logIn())
  const merchant = await user<MerchantWithKeyBody>('POST', '/merchants', {
    display_name: 'Padaria Estrela',
    webhook_url: receiver.url('before'),
    payout_address: Wallet.createRandom().address,
  })
  const ask = asker(merchant.api_key)
  const { possible_topics: topics } = await user<MailPreferencesBody>('GET', '/merchants/me/mail')
  // Mails wait for a server that is never there.
  await home.sql.query("UPDATE members SET email = 'owner@shop.example', mail_topics = $2 WHERE merchant_id = $1", [
    merchant.id,
    topics.join(),
  ])
  // An endpoint is sent what the dispatcher takes in after its creation: without this, the creations before it too when the bus is slower than the next request.
  const endpoint = async (name: string, more: object) => {
    const body = { url: receiver.url(name), events: ['*'], ...more }
    const created = await user<WebhookEndpointBody>('POST', '/merchants/me/webhook-endpoints', body)
    await settle()
    return created
  }
  await endpoint('ponte', { headers: { 'X-Shop': '42' } })
  await endpoint('standard', { format: 'standard' })
  const paused = await endpoint('paused', { max_in_flight: 1 })
  await user('PATCH', `/merchants/me/webhook-endpoints/${paused.id}`, { paused: true })
  await settle()
  bus.shuffle(seed === null ? null : random, seed ?? 0)

  const deliver = async (messages: readonly Message[]) => {
    for (const each of messages) await bus.publish(each)
    await settle()
  }
  const seconds = () => home.now().getTime() / 1_000
  const pass = (time: number) => {
    home.clock.ahead += time * 1_000
  }

  // The merchant's changes travel beside everything else.
  await user('PATCH', '/merchants/me', { webhook_url: receiver.url('default') })
  await user('POST', '/merchants/me/rotate-webhook-secret')
  await bus.publish(failing(merchant.id))
  await orders()
  await plans()
  await asker(await logIn())('PATCH', `/merchants/me/webhook-endpoints/${paused.id}`, { paused: false })
  await settle()
  bus.shuffle(null)
  const books = await readBooks(ask, home.sql, merchant.id, receiver.bodies)
  await receiver.stop()
  return books

  async function orders() {
    const made = new Map<string, OrderBody>()
    for (const reference of Object.keys(orderStories)) made.set(reference, await ask<OrderBody>('POST', '/orders', newOrder(reference)))
    const at = seconds()
    chain.synced([...made.values()], at)
    chain.audited(at)
    chain.watchedUntil(merchant.payout_address ?? '', at)
    for (const reference of CANCELLED) await ask('POST', `/orders/${made.get(reference)?.id}/cancel`)
    for (const [reference, order] of made) orderStories[reference]?.(chain, order, at)
    for (const time of [10, 90, 400, AFTER_S]) chain.advance(at + time)
    // As if the listener had been away: all of it comes at once.
    pass(AFTER_S)
    await deliver(chain.take())
    await ask('POST', `/orders/${made.get(ACCEPTED)?.id}/accept`, { reason: 'It came a minute late.' })
    const { data } = await ask<List<AttentionItemBody>>('GET', '/attention?limit=100')
    const stray = data.find(({ payment }) => payment?.memo === ANOTHER_MEMO)
    const word = { order_id: made.get(ATTACHED)?.id, reason: 'The memo was typed wrong' }
    await ask('POST', `/attention/${stray?.id}/attach`, word)
    const refund = await ask<RefundBody>('POST', `/orders/${made.get(RETURNED)?.id}/refunds`, {
      payee_address: PAYER,
      reason: 'It came too late.',
    })
    await settle()
    await deliver(chain.returned(refund, seconds()))
    const claim = await ask<RefundClaimBody>('POST', `/orders/${made.get(TWICE)?.id}/refund-claims`, {
      surplus: true,
      reason: 'Paid twice',
      email: 'payer@shop.example',
    })
    await ask('POST', `/payer/refunds/${claim.url?.split('/').at(-1)}/code`, {})
    const foreign = made.get(RETURNED)
    if (!foreign) return
    // The gateway would ask the listener, which is not here.
    const { ownerUrls, secrets } = home.place
    const payer = signCaller({ kind: 'checkout' }, { secrets: [secrets.ordersTokenSecret], audience: 'orders' })
    await call(`${ownerUrls.orders}/api/v1`, 'POST', `/orders/${foreign.id}/explanation`, payer, chain.foreign(foreign, seconds()))
    const recovery = await ask<RecoveryBody>('POST', `/orders/${foreign.id}/recoveries`, {
      token_address: PAYER,
      destination: merchant.payout_address,
    })
    await settle()
    await deliver(chain.recovered(recovery, seconds() + 60))
    const { data: done } = await ask<RecoveryListBody>('GET', `/orders/${foreign.id}/recoveries`)
    if (done[0]?.status !== 'confirmed') throw new Error(`the recovery is ${done[0]?.status}`)
  }

  async function plans() {
    const made = new Map<string, SubscriptionBody>()
    const asked = new Map<string, OrderBody[]>()
    const refused: Message[] = []
    bus.divert('subscription.charge_requested', each => {
      const { data } = JSON.parse(each.body)
      if (!planStories[data.external_ref]?.isRefused) return false
      refused.push(each)
      return true
    })
    for (const [reference, { plan }] of Object.entries(planStories))
      made.set(reference, await ask<SubscriptionBody>('POST', '/subscriptions', { ...plan, external_ref: reference }))
    for (const [step, time] of STEPS.entries()) {
      pass(time)
      chain.advance(seconds())
      await deliver([...chain.take(), ...refused.splice(0).flatMap(refuse)])
      for (const [reference, story] of Object.entries(planStories)) await command(made.get(reference)?.id ?? '', story, step)
      await settle()
      for (const [reference, story] of Object.entries(planStories)) {
        const before = asked.get(reference) ?? []
        for (const order of before) story.latecomer?.(chain, order, seconds(), step)
        const { open_order_id: id } = await ask<SubscriptionBody>('GET', `/subscriptions/${made.get(reference)?.id}`)
        if (id === null || story.isRefused || before.some(order => order.id === id)) continue
        const order = await ask<OrderBody>('GET', `/orders/${id}`).catch(async e => {
          console.log(step, reference, JSON.stringify(await ask('GET', `/subscriptions/${made.get(reference)?.id}`)), bus.waiting())
          throw e
        })
        asked.set(reference, [...before, order])
        chain.synced([order], seconds())
        story.payer?.(chain, order, seconds(), step)
      }
      pass(5 * 60)
      chain.advance(seconds())
      await deliver(chain.take())
    }
  }

  async function command(id: string, { merchant }: PlanStory, step: number) {
    const wanted = merchant?.[step]
    if (wanted === 'cancel') await ask('POST', `/subscriptions/${id}/cancel`)
    else if (wanted) await ask('PATCH', `/subscriptions/${id}`, wanted)
  }
}

/** As orders answers a charge that waits for a rate and is then withdrawn for good. */
function refuse(requested: Message): Message[] {
  const { data } = JSON.parse(requested.body)
  const { order_id, subscription_id } = data
  const owner = { merchant_id: data.terms.merchant_id, merchant_version: data.terms.version, order_id, subscription_id }
  return [
    message('order.waiting', { ...owner, reason: 'rate_unavailable' }),
    message('order.refused', { ...owner, reason: 'invalid_request' }),
  ]
}

const failing = (merchant_id: string) =>
  message('endpoint.failing', { merchant_id, endpoint_id: merchant_id, host: 'shop.example', dead: 3, failing_since: null })

async function call<T>(base: string, method: string, path: string, credential: string, body?: object): Promise<T> {
  const answer = await fetch(`${base}${path}`, {
    method,
    headers: { Authorization: `Bearer ${credential}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}
