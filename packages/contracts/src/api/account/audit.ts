import { z } from 'zod'
import { id, timestamp } from '../../fields'
import { isOneWay, notOneWay, pageQuery } from '../list'

const filters = {
  action: z
    .string()
    .regex(/^[a-z_]{1,40}\.[a-z_]{1,40}$/, 'must be an action, such as merchant.update')
    .optional(),
  created_gte: timestamp.optional(),
  created_lt: timestamp.optional(),
}

export const listAudit = z.strictObject({ ...pageQuery, ...filters }).refine(isOneWay, notOneWay)
export type ListAudit = z.infer<typeof listAudit>

export const exportAudit = z.strictObject(filters)

export const auditOutcome = z.enum(['done', 'repeated', 'refused', 'unknown']).meta({
  description:
    '`repeated`: the same `Idempotency-Key` had done it before; `unknown`: it was requested, and no answer was recorded; look at what it is about',
})

/** A change of what is the merchant's: never a value, only the names of what changed. */
export const auditEntry = z
  .object({
    object: z.literal('audit_entry'),
    id,
    action: z.string().meta({ example: 'merchant.update' }),
    changed: z.array(z.string()).meta({ description: 'What changed, by name', example: ['webhook_url'] }),
    target: id.nullable().meta({ description: 'The order, subscription, delivery or endpoint that it is about; null for the account' }),
    outcome: auditOutcome,
    user_id: z.string().meta({
      description:
        '`sub` of the user who did it; `api_key:` and the id of a named key, `api_key` the one without a name; `ponte` when its time had come',
    }),
    network: z.string().nullable().meta({ description: 'Where the request came from: a /24, or a /48 of IPv6', example: '203.0.113.0/24' }),
    request_id: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntryBody = z.infer<typeof auditEntry>
