import { Router } from 'express'
import { openApiDocument } from '../openapi/document'
import { docsStyle, mark } from './docs-style'
import { guidePages } from './guide/guide-pages'
import { docsPage, errorsPage } from './page'

/** The API described: for machines at `/openapi.json`, for people at `/docs`. Made once, when the service starts. */
export function docsRoutes(options: { publicUrl?: string | undefined }): Router {
  const document = openApiDocument(options)
  const served: readonly (readonly [path: string, type: string, text: string])[] = [
    ['/openapi.json', 'application/json', JSON.stringify(document)],
    ['/docs', 'text/html', docsPage(document)],
    ['/docs/errors', 'text/html', errorsPage()],
    ['/docs/style.css', 'text/css', docsStyle],
    ['/docs/mark.svg', 'image/svg+xml', mark],
    ...guidePages(options.publicUrl?.replace(/\/$/, '') ?? 'https://pay.example.com').map(
      ([path, html]) => [path, 'text/html', html] as const,
    ),
  ]
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
  return router
}
