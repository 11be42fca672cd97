import { pipeline } from 'node:stream/promises'
import { exportAudit, type ListAudit, listAudit } from '@ponte/contracts'
import { csvLine, listPage, parseRequest } from '@ponte/service-kit'
import { type RequestHandler, Router } from 'express'
import { termsIn } from '../credentials'
import type { Store } from '../store'
import { auditEntryBody } from '../store/audit-log'

const PAGE = 500
const COLUMNS = ['created_at', 'action', 'changed', 'user_id', 'network', 'request_id', 'id', 'target', 'outcome'] as const
/** Spreadsheets read a file without it as of their own code page. */
const BYTE_ORDER_MARK = '\ufeff'

/** What was changed in a merchant's account, for the users and keys that may read it. */
export function auditRoutes(store: Store, credentials: { api_key: RequestHandler[]; session: RequestHandler[] }): Router {
  const router = Router()
  const list: RequestHandler = async (req, res) => {
    const query = parseRequest(listAudit, req.query, 'query')
    res.json(await listPage(query, limit => store.auditLog.list(termsIn(res).merchant_id, query, limit), auditEntryBody))
  }
  const file: RequestHandler = async (req, res) => {
    const query = parseRequest(exportAudit, req.query, 'query')
    res.setHeader('Content-Type', 'text/csv; charset=utf-8')
    res.setHeader('Content-Disposition', 'attachment; filename="audit.csv"')
    if (req.method === 'HEAD') return void res.end()
    await pipeline(linesOf(store, termsIn(res).merchant_id, query), res).catch(error => {
      if (!isGone(error)) throw error
    })
  }
  router.get('/api/v1/merchants/me/audit', ...credentials.session, list)
  router.get('/api/v1/audit', ...credentials.api_key, list)
  router.get('/api/v1/merchants/me/audit.csv', ...credentials.session, file)
  router.get('/api/v1/audit.csv', ...credentials.api_key, file)
  return router
}

/** The caller has closed the connection. */
const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'

async function* linesOf(store: Store, merchantId: string, query: Omit<ListAudit, 'limit'>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(COLUMNS)
  let place: string | undefined
  do {
    const rows = await store.auditLog.list(merchantId, { ...query, limit: PAGE, ...(place ? { starting_after: place } : {}) }, PAGE)
    const entries = rows.map(auditEntryBody).map(({ changed, ...entry }) => ({ ...entry, changed: changed.join(' ') }))
    yield entries.map(entry => csvLine(COLUMNS.map(column => entry[column]))).join('')
    place = rows.length === PAGE ? rows.at(-1)?.id : undefined
  } while (place !== undefined)
}
