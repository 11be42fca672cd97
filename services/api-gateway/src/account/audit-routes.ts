import { listAudit } from '@ponte/contracts'
import { listPage, parseRequest } from '@ponte/service-kit'
import { type RequestHandler, Router } from 'express'
import { termsIn } from '../credentials'
import type { Store } from '../store'
import { auditEntryBody } from '../store/audit-log'

/** What was changed in a merchant's account, for the users and keys that may read it. */
export function auditRoutes(store: Store, credentials: { api_key: RequestHandler[]; session: RequestHandler[] }): Router {
  const router = Router()
  const list: RequestHandler = async (req, res) => {
    const query = parseRequest(listAudit, req.query, 'query')
    res.json(await listPage(query, limit => store.auditLog.list(termsIn(res).merchant_id, query, limit), auditEntryBody))
  }
  router.get('/api/v1/merchants/me/audit', ...credentials.session, list)
  router.get('/api/v1/audit', ...credentials.api_key, list)
  return router
}
