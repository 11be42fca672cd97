import { withSpan } from '@ponte/service-kit'
import { afterAttempt, type DeliveryResult, describeFailure, type Outcome } from '../delivery/delivery'
import { requestHeaders, type Signing, shownHeaders } from '../send/request-headers'
import type { Sender } from '../send/sender'
import type { Claimed, Recipient } from '../store'

export interface AttemptDeps {
  sender: Sender
  /** Opens what was sealed for an endpoint; throws when our key is not the one it was sealed with. */
  unseal(sealed: string, endpointId: string): string
}

interface Attempted {
  outcome: Outcome
  durationMs: number
  /** Where it went, and the headers as they may be shown; null for those of the specification. */
  url: string | null
  requestHeaders: Record<string, string> | null
}

const nothingSent = (outcome: Outcome): Attempted => ({ outcome, durationMs: 0, url: null, requestHeaders: null })

/** One try of one claimed delivery, with the endpoint of this moment; it belongs to the trace of what caused the event. */
export function attempt(deps: AttemptDeps, row: Claimed, recipient: Recipient): Promise<Attempted> {
  const about = { service: 'webhook-dispatcher', delivery_id: row.id, attempt: row.attempts + 1 }
  return withSpan(`webhook-dispatcher sends ${row.event_type}`, { kind: 'client', parent: row.trace, attributes: about }, async span => {
    const attempted = await send(deps, row, recipient)
    span.setAttribute('outcome', attempted.outcome.kind)
    return attempted
  })
}

async function send(deps: AttemptDeps, row: Claimed, recipient: Recipient): Promise<Attempted> {
  const { url, isDefault, format } = recipient
  if (url === null) return nothingSent({ kind: 'refused', reason: isDefault ? 'no_webhook_url' : 'endpoint_deleted' })
  let signing: Signing
  try {
    signing = signingOf(deps, recipient)
  } catch {
    // The error's text could reveal part of the key; the metric and the log line of the attempt are enough.
    return nothingSent({ kind: 'not_attempted' })
  }
  const headers = requestHeaders(signing, { eventId: row.event_id, sequence: row.sequence, body: row.body }, Date.now())
  const sent = await deps.sender.send({ url, body: row.body, headers })
  const isPlain = format === 'ponte' && recipient.sealedHeaders === null
  return { ...sent, url, requestHeaders: isPlain ? null : shownHeaders(headers, signing.staticHeaders) }
}

function signingOf({ unseal }: AttemptDeps, recipient: Recipient): Signing {
  const { endpointId, format, sealedSecret, sealedPendingSecret, sealedHeaders } = recipient
  const open = (sealed: string) => unseal(sealed, endpointId)
  return {
    format,
    secret: open(sealedSecret),
    pendingSecret: sealedPendingSecret === null ? null : open(sealedPendingSecret),
    staticHeaders: sealedHeaders === null ? {} : JSON.parse(open(sealedHeaders)),
  }
}

export function toResult(row: Claimed, { outcome, ...sent }: Attempted): DeliveryResult {
  const verdict = afterAttempt(row, outcome)
  const base = { id: row.id, verdict, error: null, attempt: null }
  if (outcome.kind === 'delivered') {
    return { ...base, attempt: { outcome: 'delivered', httpStatus: outcome.status, errorCode: null, snippet: null, ...sent } }
  }
  if (outcome.kind !== 'failed') return base
  const { code, status = null, snippet = null } = outcome
  return {
    ...base,
    error: describeFailure(outcome),
    attempt: { outcome: 'failed', httpStatus: status, errorCode: code, snippet, ...sent },
  }
}
