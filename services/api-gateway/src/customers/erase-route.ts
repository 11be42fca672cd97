import { type CustomerErasureBody, type ErasedCustomers, operations } from '@ponte/contracts'
import { callerIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { answerOf, asking } from '../owners/answer-of'
import type { AuditTrail, Owners } from '../owners/forwarding'

const { eraseCustomers, eraseOrderCustomers, eraseSubscriptionCustomers } = operations

/** Subscriptions first: no charge that is asked for behind it names the customer, and orders remembers the erasure for those before it. */
export const customerHandlers = ({ orders, subscriptions }: Owners, trail: AuditTrail) =>
  handling({
    async eraseCustomers({ body }, _req, res) {
      const caller = callerIn(res)
      const changed = Object.keys(body)
      const record = await trail({ action: eraseCustomers.audit, isInforming: false, makesSecret: false, changed, target: null }, res)
      const ofSubscriptions = await answerOf<ErasedCustomers>(subscriptions, caller, asking(eraseSubscriptionCustomers.path, body))
      const ofOrders = await answerOf<ErasedCustomers>(orders, caller, asking(eraseOrderCustomers.path, body))
      await record({ status: 200, isReplayed: false, isResent: false, created: null })
      res.json({
        object: 'customer_erasure',
        orders: ofOrders.erased,
        links: ofOrders.erased_links ?? 0,
        subscriptions: ofSubscriptions.erased,
      } satisfies CustomerErasureBody)
    },
  })
