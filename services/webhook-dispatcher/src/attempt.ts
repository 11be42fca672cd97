import { withSpan } from '@ponte/service-kit'
import { afterAttempt, describeFailure, type Outcome } from './delivery'
import type { Sender } from './send'
import type { Claimed, Result } from './store/lanes'

export interface AttemptDeps {
  sender: Sender
  /** Opens a merchant's sealed secret; throws when our key is not the one it was sealed with. */
  unseal(sealed: string, merchantId: string): string
}

interface Attempted {
  outcome: Outcome
  durationMs: number
}

/** One try of one claimed delivery, with the URL and the secret of this moment; it belongs to the trace of what caused the event. */
export async function attempt(deps: AttemptDeps, row: Claimed): Promise<Attempted> {
  const about = { service: 'webhook-dispatcher', delivery_id: row.id, attempt: row.attempts + 1 }
  return withSpan(`webhook-dispatcher sends ${row.event_type}`, { kind: 'client', parent: row.trace, attributes: about }, async span => {
    const attempted = await send(deps, row)
    span.setAttribute('outcome', attempted.outcome.kind)
    return attempted
  })
}

async function send(deps: AttemptDeps, row: Claimed): Promise<Attempted> {
  if (row.webhook_url === null) return { outcome: { kind: 'refused', reason: 'no_webhook_url' }, durationMs: 0 }
  let secret: string
  try {
    secret = deps.unseal(row.sealed_secret, row.merchant_id)
  } catch {
    // The text of the error could say something of the key; the metric and the log line of the attempt say enough.
    return { outcome: { kind: 'not_attempted' }, durationMs: 0 }
  }
  return deps.sender.send({ url: row.webhook_url, body: row.body, secret })
}

/** What is written about it. */
export function toResult(row: Claimed, lease: { token: string; laneToken: string }, outcome: Outcome, durationMs: number): Result {
  const verdict = afterAttempt(row, outcome)
  const base = { id: row.id, ...lease, verdict, error: null, attempt: null }
  if (outcome.kind === 'delivered') {
    return { ...base, attempt: { outcome: 'delivered', httpStatus: outcome.status, errorCode: null, snippet: null, durationMs } }
  }
  if (outcome.kind !== 'failed') return base
  const { code, status = null, snippet = null } = outcome
  return {
    ...base,
    error: describeFailure(outcome),
    attempt: { outcome: 'failed', httpStatus: status, errorCode: code, snippet, durationMs },
  }
}
