import { csvPage, fieldColumns, listPage, sendCsv } from '@ponte/service-kit'
import { termsIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import type { Store } from '../store'
import { auditEntryBody } from '../store/audit-log'

const columns = fieldColumns(['created_at', 'action', 'changed', 'user_id', 'network', 'request_id', 'id', 'target', 'outcome'])

export const auditHandlers = (store: Store) =>
  handling({
    async listAudit({ query }, _req, res) {
      res.json(await listPage(query, limit => store.auditLog.list(termsIn(res).merchant_id, query, limit), auditEntryBody))
    },
    exportAudit: ({ query }, req, res) =>
      sendCsv(req, res, {
        name: 'audit',
        columns,
        page: async (place, limit) =>
          csvPage((await store.auditLog.list(termsIn(res).merchant_id, { ...query, ...place }, limit)).map(auditEntryBody), limit),
      }),
  })
