import { Router } from 'express'
import { openApiDocument } from '../openapi/document'
import { apiPages } from './api-pages'
import { copyScript } from './copy-script'
import { docsStyle, mark } from './docs-style'
import { errorsPage } from './errors-page'
import { guidePages } from './guide/guide-pages'
import { searchOf, searchPage } from './search'

const QUERY_MAX = 100

/** The API described: for machines at `/openapi.json`, for people at `/docs`. Made once, when the service starts. */
export function docsRoutes(options: { publicUrl?: string | undefined }): Router {
  const document = openApiDocument(options)
  const base = options.publicUrl?.replace(/\/$/, '') ?? 'https://pay.example.com'
  const pages = [...apiPages(document), ...guidePages(base), ['/docs/errors', errorsPage()] as const]
  const served: readonly (readonly [path: string, type: string, text: string])[] = [
    ['/openapi.json', 'application/json', JSON.stringify(document)],
    ['/docs/style.css', 'text/css', docsStyle],
    ['/docs/copy.js', 'text/javascript', copyScript],
    ['/docs/mark.svg', 'image/svg+xml', mark],
    ...pages.map(([path, html]) => [path, 'text/html', html] as const),
  ]
  const search = searchOf(pages)
  const router = Router()
  for (const [path, type, text] of served) {
    // The same bytes for all: however many clients read slowly, they are in memory once.
    const bytes = Buffer.from(text)
    router.get(path, (_req, res) => {
      res.setHeader('Cache-Control', 'no-cache')
      res.setHeader('Content-Type', `${type}; charset=utf-8`)
      res.send(bytes)
    })
  }
  router.get('/docs/search', ({ query: { q } }, res) => {
    const query = typeof q === 'string' ? q.slice(0, QUERY_MAX) : ''
    res.type('html').send(searchPage(query, search(query)))
  })
  return router
}
