import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Metrics } from '../observe/metrics'
import { insideSpan, openSpan } from '../observe/trace'

const METRIC = 'ponte_http_request_duration_seconds'
/** Methods that routes have. The parser knows thirty more, which a stranger can send to every path. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
/** Left by express on a request once a route has taken it. */
interface Routed {
  route?: { path: unknown }
}

/** The pattern of the route that answered, such as `/api/v1/orders/:id`; `(none)` when no route took the request. A fixed set, whatever is asked. */
export function routeOf({ route }: Routed): string {
  const path = Array.isArray(route?.path) ? route.path[0] : route?.path
  return typeof path === 'string' ? path : '(none)'
}

export interface WatchedRequests {
  listener(app: RequestListener): RequestListener
  observe(metrics: Metrics): void
}

export function watchRequests(): WatchedRequests {
  let service: string | undefined
  let record: ((labels: { method: string; route: string; status: string }, seconds: number) => void) | undefined
  return {
    observe(metrics) {
      service = metrics.service
      const duration = metrics.histogram(METRIC, 'Time to answer a request', ['method', 'route', 'status'], undefined, ['status'])
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
        const labels = { method: METHODS.has(method) ? method : '(other)', route, status: String(res.statusCode) }
        record?.(labels, Number(process.hrtime.bigint() - startedAt) / 1e9)
        span.updateName(`${method} ${route}`)
        span.setAttributes({ 'http.route': route, 'http.response.status_code': res.statusCode })
        if (res.statusCode >= 500) span.setStatus({ code: 2 })
        span.end()
      })
      insideSpan(span, () => app(req, res))
    },
  }
}
