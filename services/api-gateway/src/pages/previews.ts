import { type Caller, type CheckoutBody, id, type LinkPage, operations, pathWith } from '@ponte/contracts'
import { type Logger, withTimeout } from '@ponte/service-kit'
import { liveViews } from '../checkout/checkout-routes'
import type { Owner } from '../owners/owner'
import type { Store } from '../store'
import { openGraph, type Preview, reaisOf } from './open-graph'

/** A payer waits for the page, and does not need the preview. */
const PATIENCE_MS = 1_000
/** They share the few connections of live pages, and anyone may ask for as many as they like. */
const UNDER_WAY_MAX = 2
const payer: Caller = { kind: 'checkout' }

export interface PreviewDeps {
  orders: Owner
  merchants: Pick<Store['merchants'], 'find'>
  /** Null where pages are opened on this machine alone, which no program previews with a picture. */
  publicUrl: string | null
  logger: Logger
}

type Found = Omit<Preview, 'picture'> & { merchantId: string }
export type Previews = ReturnType<typeof pagePreviews>

/** A payer's page as programs show it before it is opened: elements for its head, or nothing where there is no such page or no answer in time. */
export function pagePreviews({ orders, merchants, publicUrl, logger }: PreviewDeps) {
  let underWay = 0
  const preview =
    (find: (named: string) => Promise<Found | null>) =>
    async (named: string, ownPicture: string | null): Promise<string> => {
      if (!id.safeParse(named).success || underWay === UNDER_WAY_MAX) return ''
      underWay += 1
      const tags = async () => {
        const found = await find(named)
        if (!found) return ''
        const logoHash = (await merchants.find(found.merchantId))?.branding.logoHash
        const path = logoHash ? `/logos/${logoHash}.png` : ownPicture
        return openGraph({ ...found, picture: path && publicUrl && `${publicUrl}${path}` })
      }
      const made = tags().finally(() => {
        underWay -= 1
      })
      return withTimeout(PATIENCE_MS, made, 'The preview of a page').catch(error => {
        logger.warn('a page is sent without its preview', { error })
        return ''
      })
    }
  return {
    ofOrder: preview(async orderId => {
      const view = (await liveViews(orders, [orderId.toLowerCase()])).get(orderId.toLowerCase())
      if (!view) return null
      const { merchant_name, brl_amount, description }: CheckoutBody = JSON.parse(view.text)
      return { merchantId: view.merchantId, shop: merchant_name, reais: [brl_amount], description }
    }),
    ofLink: preview(async token => {
      const { status, body } = await orders.ask(payer, {
        method: 'GET',
        path: pathWith(operations.getLinkPage.path, { payer_token: token }),
      })
      // A replica of the release before answers 404 too.
      if (status !== 200) return null
      const { merchant_id, link }: LinkPage = JSON.parse(body.toString('utf8'))
      return { merchantId: merchant_id, shop: link.merchant_name, reais: reaisOf(link), description: link.description }
    }),
  }
}
