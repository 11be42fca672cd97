import type { Logger } from '@ponte/service-kit'
import { termsIn } from '../credentials'
import type { AuditTrail } from '../owners'
import type { Store } from '../store'
import { actor } from './changes'

/** Records changes that owners are asked for: each before it is sent on, and its outcome before the caller sees it. */
export const auditTrail =
  (store: Store, logger: Logger): AuditTrail =>
  async (change, res) => {
    const id = await store.auditLog.begin({ ...change, merchantId: termsIn(res).merchant_id, actor: actor(res) })
    return async ({ status, isRepeated, created }) => {
      // An owner that failed may have changed something.
      if (status >= 500) return
      const done = isRepeated ? 'repeated' : 'done'
      // The change stands, so the caller receives its answer.
      await store.auditLog.end(id, status < 300 ? done : 'refused', created).catch(error => {
        logger.error('the outcome of a change was not recorded', { audit_entry_id: id, error })
      })
    }
  }
