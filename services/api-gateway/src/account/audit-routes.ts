import { exportAudit, listAudit } from '@ponte/contracts'
import { csvPage, fieldColumns, listPage, parseRequest, sendCsv } from '@ponte/service-kit'
import { type RequestHandler, Router } from 'express'
import { termsIn } from '../credentials'
import type { Store } from '../store'
import { auditEntryBody } from '../store/audit-log'

const columns = fieldColumns(['created_at', 'action', 'changed', 'user_id', 'network', 'request_id', 'id', 'target', 'outcome'])

/** What was changed in a merchant's account, for the users and keys that may read it. */
export function auditRoutes(store: Store, credentials: { api_key: RequestHandler[]; session: RequestHandler[] }): Router {
  const router = Router()
  const list: RequestHandler = async (req, res) => {
    const query = parseRequest(listAudit, req.query, 'query')
    res.json(await listPage(query, limit => store.auditLog.list(termsIn(res).merchant_id, query, limit), auditEntryBody))
  }
  const file: RequestHandler = async (req, res) => {
    const query = parseRequest(exportAudit, req.query, 'query')
    await sendCsv(req, res, {
      name: 'audit',
      columns,
      page: async (place, limit) =>
        csvPage((await store.auditLog.list(termsIn(res).merchant_id, { ...query, ...place }, limit)).map(auditEntryBody), limit),
    })
  }
  router.get('/api/v1/merchants/me/audit', ...credentials.session, list)
  router.get('/api/v1/audit', ...credentials.api_key, list)
  router.get('/api/v1/merchants/me/audit.csv', ...credentials.session, file)
  router.get('/api/v1/audit.csv', ...credentials.api_key, file)
  return router
}
