import { ApiError, type BrandingBody } from '@ponte/contracts'
import { parseRequest } from '@ponte/service-kit'
import { Router } from 'express'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { type AccountDeps, changeOwn, own } from '../account/changes'
import { liveViews } from '../checkout/checkout-routes'
import { handling } from '../edge/handlers'
import { type Branding, updateBranding } from '../merchant/merchant'
import type { Store } from '../store'
import { encodeLogo } from './logo'

const logoPath = z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) })
const YEAR_S = 31_536_000
const PICTURES_BYTES_MAX = 32 * 1024 * 1024

export const brandingHandlers = ({ store, now, orders }: AccountDeps) =>
  handling({
    async getBranding(_asked, _req, res) {
      res.json(bodyOf((await own(store, res)).branding))
    },
    async updateBranding({ body: { logo: base64, ...body } }, _req, res) {
      const logo = base64 == null ? base64 : encodeLogo(base64)
      const fields = { ...body, ...(logo === undefined ? {} : { logoHash: logo?.hash ?? null }) }
      const merchant = await changeOwn(store, res, 'branding.update', found => updateBranding(found, fields, now()), { logo })
      res.json(bodyOf(merchant.branding))
    },
    async getCheckoutBranding({ params }, _req, res) {
      const view = (await liveViews(orders, [params.order_id])).get(params.order_id)
      const merchant = view && (await store.merchants.find(view.merchantId))
      if (!merchant) throw new ApiError('not_found', 'There is no such order; check the link.')
      res.json(bodyOf(merchant.branding))
    },
  })

/** The pictures, under names made of their bytes. Each is in memory once, however many clients ask for it and read it slowly. */
export function logoRoutes({ merchants }: Pick<Store, 'merchants'>): Router {
  const router = Router()
  const pictures = new LRUCache<string, Buffer>({
    maxSize: PICTURES_BYTES_MAX,
    sizeCalculation: png => png.length,
    fetchMethod: async hash => {
      const png = await merchants.logo(hash)
      return png ? Buffer.from(png) : undefined
    },
  })
  router.get('/logos/:hash.png', async (req, res) => {
    const { hash } = parseRequest(logoPath, req.params, 'path')
    const png = (await merchants.hasLogo(hash)) ? await pictures.fetch(hash) : undefined
    if (!png) throw new ApiError('not_found', 'There is no such picture.')
    res.setHeader('Cache-Control', `public, max-age=${YEAR_S}, immutable`)
    res.type('png').send(png)
  })
  return router
}

const bodyOf = ({ color, contactEmail, termsUrl, logoHash }: Branding): BrandingBody => ({
  object: 'branding',
  color,
  contact_email: contactEmail,
  terms_url: termsUrl,
  logo_url: logoHash && `/logos/${logoHash}.png`,
})
