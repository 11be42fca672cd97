import { ApiError } from '@ponte/contracts'
import { Router } from 'express'

interface RouterShape {
  stack: readonly { route?: { path: string | string[]; methods?: Record<string, boolean> } | undefined; handle?: unknown }[]
}

/** A router that also answers the methods which its paths do not have: 405 with `Allow`; OPTIONS with the same header alone. */
export function withOtherMethods(router: Router): Router {
  const complete = Router()
  // A word comes before the id that could stand in its place.
  const served = [...methodsByPath(router)]
    .toSorted(([a], [b]) => placeholdersOf(a) - placeholdersOf(b))
    .map(([path, methods]) => ({ pattern: patternOf(path), allow: [...methods].sort().join(', ') }))
  const allowed = (path: string) => served.find(({ pattern }) => pattern.test(path))?.allow ?? ''
  complete.use((req, res, next) => {
    const allow = req.method === 'OPTIONS' ? allowed(req.path) : ''
    if (allow === '') return next()
    res.status(204).setHeader('Allow', allow).end()
  })
  complete.use(router)
  complete.use((req, res, next) => {
    const allow = allowed(req.path)
    if (allow === '') return next()
    res.setHeader('Allow', allow)
    throw new ApiError('method_not_allowed', `${req.method} is not offered here; this path has ${allow}.`)
  })
  return complete
}

const placeholdersOf = (path: string) => path.split(/[:*]/).length

/** The requests that express takes for a path: of any case, with or without a slash at the end. */
const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .replace(/[.]/g, '\\.')
      .replace(/\/\*\w+$/, '/.+')
      .replace(/:\w+/g, '[^/]+')}/?$`,
    'i',
  )

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
