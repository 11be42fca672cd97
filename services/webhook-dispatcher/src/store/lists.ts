import type { ListDeliveries } from '@ponte/contracts'
import { type Condition, type KeysetList, timeSpan } from '@ponte/service-kit'

/** Rows that were found by their ids, in the order of these. */
export function inOrder<Row extends { id: string }>(ids: readonly string[], rows: readonly Row[]): Row[] {
  const byId = new Map(rows.map(row => [row.id, row]))
  return ids.flatMap(id => byId.get(id) ?? [])
}

/** True when a span of the time of storage is asked for: a late arrival has an earlier id. */
export const isOfSpan = ({ created_gte, created_lt }: { created_gte?: string | undefined; created_lt?: string | undefined }): boolean =>
  created_gte !== undefined || created_lt !== undefined

/** Raw SQL, as its list. By three indexes: the first delivery to the webhook_url has the event's id, those elsewhere and replays name it. */
export const ofEvents = (ids: readonly string[]): Condition => [
  `id = ANY (ARRAY(
    SELECT id FROM deliveries WHERE id = ANY (?::uuid[])
    UNION SELECT id FROM deliveries WHERE event_id = ANY (?::uuid[]) AND endpoint_id IS NOT NULL AND replay_of IS NULL
    UNION SELECT id FROM deliveries WHERE event_id = ANY (?::uuid[]) AND replay_of IS NOT NULL))`,
  ids,
]

/** Conditions of the partial indexes. A delivery in flight stays pending in its own row; its lane names it. */
export function statusIs(status: ListDeliveries['status'], inFlight: readonly string[]): Condition[] {
  if (status === 'pending') return [['next_attempt_at IS NOT NULL'], ['id <> ALL (?::uuid[])', inFlight]]
  if (status === 'in_flight') return [['next_attempt_at IS NOT NULL'], ['id = ANY (?::uuid[])', inFlight]]
  return status === 'dead' ? [['dead_reason IS NOT NULL']] : []
}

type Walk = Pick<KeysetList, 'owner' | 'leading' | 'indexed' | 'searched' | 'time' | 'query'>

/**
 * Which index finds a list of a merchant's deliveries, to an endpoint that is theirs, and what is left to be searched for: that of a few rows first, then
 * those of time, endpoint and kind.
 */
export function deliveryWalk(merchantId: string, query: ListDeliveries, few: readonly Condition[]): Walk {
  const { status, event_type, endpoint_id, starting_after, ending_before } = query
  const place = { starting_after, ending_before }
  const isFew = few.length > 0
  const isDefault = endpoint_id === merchantId
  const time = timeSpan('created_at', query)
  const delivered = when('status = ?', status === 'delivered' ? status : undefined)
  const kind = when('event_type = ?', event_type)
  if (!isFew && time.length === 0 && endpoint_id !== undefined && !isDefault) {
    const searched = [...delivered, ...kind]
    return { owner: ['endpoint_id', endpoint_id], leading: [], indexed: [['endpoint_id IS NOT NULL']], searched, query: place }
  }
  const to: Condition[] = isDefault ? [['endpoint_id IS NULL']] : when('endpoint_id = ?::uuid', endpoint_id)
  const walk = { owner: ['merchant_id', merchantId], indexed: few } as const
  if (isFew) return { ...walk, leading: [], searched: [...to, ...delivered, ...kind, ...time], query: place }
  const searched = [...to, ...delivered]
  const isTimed = time.length > 0
  return {
    ...walk,
    leading: [['event_type', 'text', event_type]],
    searched,
    ...(isTimed ? { time: 'created_at', query } : { query: place }),
  }
}

const when = (condition: string, value: string | undefined): Condition[] => (value === undefined ? [] : [[condition, value]])
