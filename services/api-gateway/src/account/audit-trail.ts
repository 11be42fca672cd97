import type { Logger } from '@ponte/service-kit'
import type { Response } from 'express'
import { termsIn } from '../credentials/credentials'
import type { Verdict } from '../limits/rate-limit'
import type { AuditTrail } from '../owners/forwarding'
import type { Store } from '../store'
import { actor } from './changes'
import { noteShown, refuseBeyond, unchangedBucket } from './shown-secret'

interface AuditTrailDeps {
  store: Store
  /** Counts requests of a user, or of a merchant's keys, that changed nothing. */
  countUnchanged(bucket: string, count: number): Verdict
  logger: Logger
}

/**
 * Records changes that owners are asked for: each before it is sent on, and its outcome before the caller sees it. Rows of the log are never removed, so who
 * leaves too many for nothing in a minute is refused before there is another one: a user, or the keys of a merchant together, since these are soon made.
 */
export const auditTrail =
  ({ store, countUnchanged, logger }: AuditTrailDeps): AuditTrail =>
  async (change, res) => {
    const merchantId = termsIn(res).merchant_id
    const bucket = unchangedBucket(merchantId, res)
    refuseBeyond(countUnchanged(bucket, 0))
    const id = await store.auditLog.begin({ ...change, merchantId, actor: actor(res) })
    return async ({ status, isReplayed, isResent, created }) => {
      // An owner that failed may have changed something, and so may the first of two that were sent.
      if (status >= 500 || (isResent && status >= 400)) return
      const done = isReplayed && !isResent ? 'repeated' : 'done'
      const outcome = status < 300 ? done : 'refused'
      if (outcome !== 'done') countUnchanged(bucket, 1)
      // Without its row no secret is shown.
      if (isReplayed && status < 300 && change.makesSecret) await noteShownAgain(store, merchantId, res)
      const record = async () => {
        const informing = change.isInforming && outcome === 'done' ? await store.merchants.find(merchantId) : null
        await store.auditLog.end(id, outcome, created, informing)
      }
      // The change stands, so the caller receives its answer.
      await record().catch(error => {
        logger.error('the outcome of a change was not recorded', { audit_entry_id: id, error })
      })
    }
  }

async function noteShownAgain(store: Store, merchantId: string, res: Response): Promise<void> {
  const merchant = await store.merchants.find(merchantId)
  if (merchant) await noteShown(store, merchant, 'endpoint_secret.show_again', res)
}
