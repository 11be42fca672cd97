import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { ApiError } from '@ponte/contracts'
import express, { type RequestHandler, Router } from 'express'
import { type DashboardSessionOptions, dashboardSession } from './dashboard-session'

export interface PagesOptions {
  /** The built pages. */
  folder: string
  /** What the pages ask for at start: where to log in. Public by nature. */
  settings: { auth_url: string | null; public_client_key: string | null }
  session: DashboardSessionOptions
}

const YEAR_S = 31_536_000

/** The dashboard and the hosted checkout, when they are built: static files, and one document for each of the two. */
export function pages({ folder, settings, session }: PagesOptions): Router {
  const router = Router()
  const document = (names: string[]): RequestHandler => {
    const found = names.map(name => join(folder, name)).find(existsSync)
    return (_req, res) => {
      if (!found) throw new ApiError('not_found', 'The pages are not built here; run the build of packages/web.')
      res.setHeader('Cache-Control', 'no-cache')
      res.sendFile(found)
    }
  }
  router.get('/settings.json', (_req, res) => {
    res.setHeader('Cache-Control', 'no-cache')
    res.json(settings)
  })
  router.use(dashboardSession(session))
  router.use('/assets', packed(join(folder, 'assets')))
  router.use('/assets', express.static(join(folder, 'assets'), { immutable: true, maxAge: YEAR_S * 1000, index: false, redirect: false }))
  router.get('/pay/:order_id', document(['pay.html', 'pay/index.html', 'index.html']))
  router.get(['/dashboard', '/dashboard/*path'], document(['dashboard.html', 'dashboard/index.html', 'index.html']))
  return router
}

const PACKABLE: Record<string, string> = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' }

/** Answers with the gzipped copy that the build left beside a file, to whoever takes one. */
function packed(folder: string): RequestHandler {
  return (req, res, next) => {
    const type = PACKABLE[extname(req.path)]
    if (type && /^\/[\w.-]+$/.test(req.path) && existsSync(join(folder, `${req.path}.gz`))) {
      res.setHeader('Vary', 'Accept-Encoding')
      if (req.acceptsEncodings('gzip')) {
        res.setHeader('Content-Encoding', 'gzip')
        res.setHeader('Content-Type', type)
        req.url = `${req.path}.gz`
      }
    }
    next()
  }
}
