import { withSpan } from '@ponte/service-kit'
import { afterAttempt, type DeliveryResult, describeFailure, type Outcome } from '../delivery'
import type { Sender } from '../send'
import type { Claimed, Endpoint } from '../store'

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
export async function attempt(deps: AttemptDeps, row: Claimed, endpoint: Endpoint): Promise<Attempted> {
  const about = { service: 'webhook-dispatcher', delivery_id: row.id, attempt: row.attempts + 1 }
  return withSpan(`webhook-dispatcher sends ${row.event_type}`, { kind: 'client', parent: row.trace, attributes: about }, async span => {
    const attempted = await send(deps, row.body, endpoint)
    span.setAttribute('outcome', attempted.outcome.kind)
    return attempted
  })
}

async function send(deps: AttemptDeps, body: Buffer, { merchantId, webhookUrl, sealedSecret }: Endpoint): Promise<Attempted> {
  if (webhookUrl === null) return { outcome: { kind: 'refused', reason: 'no_webhook_url' }, durationMs: 0 }
  let secret: string
  try {
    secret = deps.unseal(sealedSecret, merchantId)
  } catch {
    // The error's text could reveal part of the key; the metric and the log line of the attempt are enough.
    return { outcome: { kind: 'not_attempted' }, durationMs: 0 }
  }
  return deps.sender.send({ url: webhookUrl, body, secret })
}

export function toResult(row: Claimed, outcome: Outcome, durationMs: number): DeliveryResult {
  const verdict = afterAttempt(row, outcome)
  const base = { id: row.id, verdict, error: null, attempt: null }
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
