import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, type Mode } from '@ponte/contracts'
import { type Request, type RequestHandler, Router } from 'express'
import sirv from 'sirv'
import { type DashboardSessionOptions, dashboardSession } from './dashboard-session'
import type { Previews } from './previews'
import { testBannerRoutes, withTestBanner } from './test-banner'

export interface PagesOptions {
  /** The built pages. */
  folder: string
  /** Asked for by the pages at start, to log in. Public by nature. */
  settings: { auth_url: string | null; public_client_key: string | null; sandbox: boolean }
  session: DashboardSessionOptions
  mode: Mode
  /** Read by programs that show a link before it is opened. */
  previews: Previews
  /** Merchants' pictures. */
  logos: Router
}

const YEAR_S = 31_536_000
const WEEK_S = 604_800
const DAY_S = 86_400
const HOUR_S = 3_600
const PICTURE = '/ponte.png'
const BUTTON = '/button.js'
const BROWSERS_NAME = 'Sec-Fetch-Dest'

/** The checkout of a payer who waits for it is neither later nor larger for what programs read. */
const isBrowser = (req: Request) => req.get(BROWSERS_NAME) === 'document'

/** The dashboard and the hosted checkout, when they are built: static files, and one document for each of the two. */
export function pages({ folder, settings, session, mode, previews, logos }: PagesOptions): Router {
  const router = Router()
  const picture = existsSync(join(folder, PICTURE)) ? PICTURE : null
  const document = (names: string[], headOf: (req: Request) => Promise<string> | string = () => ''): RequestHandler => {
    const found = names.map(name => join(folder, name)).find(existsSync)
    return async (req, res) => {
      if (!found) throw new ApiError('not_found', 'The pages are not built here; run the build of packages/web.')
      res.setHeader('Cache-Control', 'no-cache')
      res.vary(BROWSERS_NAME)
      const [page, head] = await Promise.all([readFile(found, 'utf8'), headOf(req)])
      const shown = page.replace('</head>', () => `${head}</head>`)
      res.type('html').send(mode === 'test' ? withTestBanner(shown) : shown)
    }
  }
  const home = existsSync(join(folder, 'dashboard.html')) ? '/dashboard' : '/docs'
  router.get('/', (_req, res) => res.redirect(home))
  router.get('/settings.json', (_req, res) => {
    res.setHeader('Cache-Control', 'no-cache')
    res.json(settings)
  })
  if (mode === 'test') router.use(testBannerRoutes())
  router.use(logos)
  router.use(dashboardSession(session))
  const assets = join(folder, 'assets')
  // `gzip`: the build leaves a compressed copy beside each asset.
  if (existsSync(assets)) router.use('/assets', sirv(assets, { gzip: true, immutable: true, maxAge: YEAR_S, etag: true, extensions: [] }))
  if (picture) router.get(PICTURE, (_req, res) => res.sendFile(join(folder, PICTURE), { maxAge: DAY_S * 1_000 }))
  // Pages of shops load it, also those that embed nothing without its owner's leave (Cross-Origin-Embedder-Policy).
  if (existsSync(join(folder, BUTTON)))
    router.get(BUTTON, (_req, res) => {
      res.set({
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'Cache-Control': `public, max-age=${HOUR_S}, stale-while-revalidate=${WEEK_S}`,
      })
      res.sendFile(join(folder, BUTTON))
    })
  const checkout = ['pay.html', 'pay/index.html', 'index.html']
  router.get(
    '/pay/:order_id',
    document(checkout, req => (isBrowser(req) ? '' : previews.ofOrder(String(req.params.order_id), picture))),
  )
  router.get(
    '/pay/link/:payer_token',
    document(checkout, ({ params }) => previews.ofLink(String(params.payer_token), picture)),
  )
  router.get(['/pay/receipt/:order_id', '/pay/subscription/:payer_token', '/pay/refund/:payer_token'], document(checkout))
  router.get(['/dashboard', '/dashboard/*path'], document(['dashboard.html', 'dashboard/index.html', 'index.html']))
  return router
}
