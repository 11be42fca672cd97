import { ApiError } from '@ponte/contracts'
import { type Request, type RequestHandler, Router } from 'express'

/** What this file reads of an express router: routes, and routers inside it. */
interface RouterShape {
  stack: readonly { route?: { path: string | string[]; methods?: Record<string, boolean> } | undefined; handle?: unknown }[]
}

/** A router that also answers the methods which its paths do not have: 405 with `Allow`; OPTIONS with the same header alone. */
export function withOtherMethods(router: Router): Router {
  const complete = Router()
  const allowed = [...methodsByPath(router)].map(([path, methods]) => [path, [...methods].sort().join(', ')] as const)
  for (const [path, allow] of allowed)
    complete.options(path, (req, res) => {
      forgetRoute(req)
      res.status(204).setHeader('Allow', allow).end()
    })
  complete.use(router)
  for (const [path, allow] of allowed) complete.all(path, notAllowed(allow))
  return complete
}

/** It is no route of the API: a stranger who sends every method to every path must not make as many series of a metric. */
const forgetRoute = (req: Request) => {
  req.route = undefined
}

const notAllowed =
  (allow: string): RequestHandler =>
  (req, res) => {
    forgetRoute(req)
    res.setHeader('Allow', allow)
    throw new ApiError('method_not_allowed', `${req.method} is not offered here; this path has ${allow}.`)
  }

function methodsByPath({ stack }: RouterShape, found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  for (const { route, handle } of stack) {
    for (const path of route ? [route.path].flat() : []) {
      const methods = found.get(path) ?? new Set()
      for (const method of Object.keys(route?.methods ?? {})) methods.add(method.toUpperCase())
      if (methods.has('GET')) methods.add('HEAD')
      found.set(path, methods)
    }
    if (!route && isRouter(handle)) methodsByPath(handle, found)
  }
  return found
}

const isRouter = (handle: unknown): handle is RouterShape =>
  typeof handle === 'function' && 'stack' in handle && Array.isArray(handle.stack)
