import { randomBytes, randomUUID } from 'node:crypto'
import { ApiError, customerOf, type LinkPage, type MerchantTerms, operations, userIdOf } from '@ponte/contracts'
import { addLogFields, answersTo, listPage, retryConflicts, serve, serveOnce, uuidv7At } from '@ponte/service-kit'
import type { Router } from 'express'
import { chosenCentavos, type Link, linkBody, NO_ORDERS, newLink, payerLinkBody, requireOpening, standingOrder } from './link/link'
import type { Place } from './order/body'
import type { OrderFactory } from './order/factory'
import { supersede } from './order/order'
import type { Store } from './store'

export interface LinkRouteDeps {
  store: Store
  database: Parameters<typeof serveOnce>[2]
  orderFactory: OrderFactory
  place: Place
  now: () => Date
}

/** Links by which payers open orders. */
export function linkRoutes(router: Router, { store, database, orderFactory, place, now }: LinkRouteDeps): void {
  const ofMerchant = async (id: string, terms: MerchantTerms): Promise<Link> => {
    const link = await store.links.find(terms.merchant_id, id)
    if (!link) throw notFound(id)
    return link
  }
  const ofPayer = async (token: string): Promise<Link> => {
    const link = await store.links.findByPayerToken(token)
    if (!link) throw new ApiError('not_found', 'There is no such link; check it, or ask the shop for another one.')
    return link
  }
  const shown = async (found: readonly Link[]) => {
    const ids = found.map(({ id }) => id)
    const [factsOf, named] = await Promise.all([store.links.facts(ids), store.links.customersOf(ids)])
    return (link: Link) => linkBody(link, factsOf(link.id), named.get(link.id)?.customer ?? null, place, now())
  }

  serveOnce(router, operations.createLink, database, async ({ body, caller: by, terms, keyed }) => {
    const at = now()
    const link = newLink({ id: uuidv7At(at), terms, payerToken: randomUUID(), createdBy: userIdOf(by) }, body, at)
    addLogFields({ link_id: link.id })
    const customer = customerOf(body.customer)
    const answer = { status: 201, body: JSON.stringify(linkBody(link, NO_ORDERS, customer, place, at)) }
    await store.links.insert(link, customer, answersTo(keyed, answer))
    return answer
  })

  serve(router, operations.listLinks, async ({ query, terms }, _req, res) => {
    const find = (limit: number) => store.links.list(terms.merchant_id, query, limit)
    const page = await listPage(query, find, link => link)
    res.json({ ...page, data: page.data.map(await shown(page.data)) })
  })

  serve(router, operations.getLink, async ({ params, terms }, _req, res) => {
    const link = await ofMerchant(params.id, terms)
    res.json((await shown([link]))(link))
  })

  serveOnce(router, operations.endLink, database, async ({ params, terms, keyed }) => {
    const bodyOf = await shown([await ofMerchant(params.id, terms)])
    const answer = (link: Link) => ({ status: 200, body: JSON.stringify(bodyOf(link)) })
    const ended = await store.links.end(terms.merchant_id, params.id, now(), link => answersTo(keyed, answer(link)))
    if (!ended) throw notFound(params.id)
    return answer(ended)
  })

  const payerView = async (link: Link, opened: string | null) => {
    const [facts, terms] = await Promise.all([store.links.payerFacts(link), store.merchants.newestTerms(link.terms)])
    const order = opened === null ? null : ((await store.orders.find(opened))?.order ?? null)
    return payerLinkBody(link, facts, {
      ...{ merchantName: terms.display_name, place, at: now() },
      opened: order,
    })
  }

  serve(router, operations.getPayerLink, async ({ params }, _req, res) => {
    res.json(await payerView(await ofPayer(params.payer_token), null))
  })

  serve(router, operations.getLinkPage, async ({ params }, _req, res) => {
    const found = await ofPayer(params.payer_token)
    res.json({ merchant_id: found.terms.merchant_id, link: await payerView(found, null) } satisfies LinkPage)
  })

  serve(router, operations.openLink, async ({ params, body }, _req, res) => {
    const link = await ofPayer(params.payer_token)
    const brlCentavos = chosenCentavos(link, body.brl_amount)
    const facts = await store.links.openingFacts(link, now())
    const standing = standingOrder(link, facts)
    if (standing) return void res.json(await payerView(link, standing.id))
    requireOpening(link, facts, now())
    const at = now()
    const change = await orderFactory.open({
      id: uuidv7At(at),
      memo: randomBytes(32).toString('hex'),
      terms: await store.merchants.newestTerms(link.terms),
      subscriptionId: null,
      externalRef: link.externalRef,
      description: link.description,
      metadata: link.metadata,
      successUrl: link.successUrl,
      cancelUrl: link.cancelUrl,
      brlCentavos,
      expiresAt: new Date(at.getTime() + link.quoteSeconds * 1_000),
    })
    addLogFields({ link_id: link.id, order_id: change.order.id })
    res.json(await payerView(link, await store.links.open(link, change)))
  })
}

const PAGE = 100

/**
 * Closes orders beside the one that paid an invoice: untouched it is cancelled, and money that came or still comes is a duplicate, also where both are paid.
 * Resolves to whether there may be more.
 */
export async function closeReplaced(store: Store, now: () => Date): Promise<boolean> {
  const replaced = await store.links.replaced(PAGE)
  for (const one of replaced) {
    await retryConflicts(async () => {
      const found = await store.orders.find(one.orderId)
      if (found) await store.links.supersede(one, supersede(found, store.chain.viewOf(found.order), now()))
    })
  }
  return replaced.length === PAGE
}

const notFound = (id: string) => new ApiError('not_found', `There is no link ${id}.`)
