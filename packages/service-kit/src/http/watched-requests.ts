import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Metrics } from '../observe'
import { insideSpan, openSpan } from '../observe'

const METRIC = 'ponte_http_request_duration_seconds'
/** An id inside a path that no route pattern describes: kept out of labels, or there would be one series per id. */
const ID_SEGMENT = /^(?=.*\d)[\w-]{8,}$|^\d+$/

/** What express leaves on a request once a route has taken it. */
interface Routed {
  baseUrl?: string
  originalUrl?: string
  route?: { path: unknown }
}

/** The pattern of the route that answered, such as `/api/v1/orders/:id`; `(none)` when no route took the request. */
export function routeOf(req: Routed): string {
  if (typeof req.route?.path !== 'string') return '(none)'
  const { path } = req.route
  const segments = (text: string) => text.split('/').filter(Boolean)
  const asked = segments((req.originalUrl ?? '').split('?')[0] ?? '')
  // After an error express has forgotten where the router was mounted; what the pattern does not cover of the path is that place.
  const mount = asked
    .slice(0, Math.max(0, asked.length - segments(path).length))
    .map(segment => (ID_SEGMENT.test(segment) ? ':id' : segment))
  return `/${[...mount, ...segments(path)].join('/')}`
}

export interface WatchedRequests {
  listener(app: RequestListener): RequestListener
  observe(metrics: Metrics): void
}

/** Measures and traces every request of one server. */
export function watchRequests(): WatchedRequests {
  let service: string | undefined
  let record: ((labels: { method: string; route: string; status: string }, seconds: number) => void) | undefined
  return {
    observe(metrics) {
      service = metrics.service
      const duration = metrics.histogram(METRIC, 'Time to answer a request', ['method', 'route', 'status'])
      record = (labels, seconds) => duration.observe(labels, seconds)
    },
    listener: app => (req: IncomingMessage & Routed, res: ServerResponse) => {
      const startedAt = process.hrtime.bigint()
      const method = req.method ?? ''
      const parent = typeof req.headers.traceparent === 'string' ? req.headers.traceparent : undefined
      const span = openSpan(method, {
        kind: 'server',
        parent,
        attributes: { 'http.request.method': method, ...(service ? { service } : {}) },
      })
      res.on('close', () => {
        const route = routeOf(req)
        record?.({ method, route, status: String(res.statusCode) }, Number(process.hrtime.bigint() - startedAt) / 1e9)
        span.updateName(`${method} ${route}`)
        span.setAttributes({ 'http.route': route, 'http.response.status_code': res.statusCode })
        if (res.statusCode >= 500) span.setStatus({ code: 2 })
        span.end()
      })
      insideSpan(span, () => app(req, res))
    },
  }
}
