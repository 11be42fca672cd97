import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, type Mode } from '@ponte/contracts'
import { type RequestHandler, Router } from 'express'
import sirv from 'sirv'
import { type DashboardSessionOptions, dashboardSession } from './dashboard-session'
import { testBannerRoutes, withTestBanner } from './test-banner'

export interface PagesOptions {
  /** The built pages. */
  folder: string
  /** Asked for by the pages at start, to log in. Public by nature. */
  settings: { auth_url: string | null; public_client_key: string | null; sandbox: boolean }
  session: DashboardSessionOptions
  mode: Mode
  /** Merchants' pictures. */
  logos: Router
}

const YEAR_S = 31_536_000

/** The dashboard and the hosted checkout, when they are built: static files, and one document for each of the two. */
export function pages({ folder, settings, session, mode, logos }: PagesOptions): Router {
  const router = Router()
  const document = (names: string[]): RequestHandler => {
    const found = names.map(name => join(folder, name)).find(existsSync)
    return (_req, res) => {
      if (!found) throw new ApiError('not_found', 'The pages are not built here; run the build of packages/web.')
      res.setHeader('Cache-Control', 'no-cache')
      if (mode === 'test') res.type('html').send(withTestBanner(readFileSync(found, 'utf8')))
      else res.sendFile(found)
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
  router.get(
    ['/pay/:order_id', '/pay/receipt/:order_id', '/pay/subscription/:payer_token', '/pay/refund/:payer_token', '/pay/link/:payer_token'],
    document(['pay.html', 'pay/index.html', 'index.html']),
  )
  router.get(['/dashboard', '/dashboard/*path'], document(['dashboard.html', 'dashboard/index.html', 'index.html']))
  return router
}
