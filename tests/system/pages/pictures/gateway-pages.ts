import { docsRoutes, errorPage, securityHeaders } from '@ponte/api-gateway'
import { ApiError } from '@ponte/contracts'
import { createApp, httpServer, silentLogger } from '@ponte/service-kit'
import { Router } from 'express'
import type { Route } from 'playwright-core'
import { ORIGIN } from './answers'

const REQUEST_ID = '01a205ce-4a10-7d3e-8b1f-2c6d9e0f4a57'

/** The gateway's own pages, which need no database: its documentation, and what a browser gets in place of a page. */
export async function startGatewayPages() {
  const routes = Router()
  routes.use(docsRoutes({ publicUrl: ORIGIN }))
  routes.get('/busy', () => {
    throw new ApiError('rate_limited', 'Too many.')
  })
  routes.get('/broken', () => {
    throw new Error('A fault.')
  })
  const app = createApp({ routes, before: [securityHeaders(undefined)], errorPage, logger: silentLogger })
  const http = httpServer('http', app, { host: '127.0.0.1', port: 0 })
  await http.start?.()
  return {
    async answer(route: Route, language: string) {
      const { pathname, search } = new URL(route.request().url())
      const headers = { accept: route.request().headers().accept ?? '*/*', 'accept-language': language, 'x-request-id': REQUEST_ID }
      const response = await fetch(`http://127.0.0.1:${http.port()}${pathname}${search}`, { headers })
      await route.fulfill({ status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() })
    },
    stop: () => http.stop?.(),
  }
}
