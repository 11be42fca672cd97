import type { ExplanationBody } from '@ponte/contracts'
import { RequestFailed } from '../problem'
import type { explanationPt } from './explanation-pt'

type Texts = typeof explanationPt

/** Why a transaction did or did not pay, in the reader's language. */
export function sentenceOf(t: Texts, found: ExplanationBody, usdc: (amount: string) => string): string {
  return t.sentences[found.code]({
    amount: found.amount && usdc(found.amount),
    shortBy: found.short_by && usdc(found.short_by),
    seen: found.confirmations?.seen ?? 0,
    required: found.confirmations?.required ?? 0,
    token: found.token_address,
    recipient: found.recipient_address,
    network: found.network ?? null,
  })
}

/** Why there is no such answer. */
export function faultOf(t: Texts, error: unknown): string {
  const code = error instanceof RequestFailed ? error.code : undefined
  return code === 'invalid_request' ? t.malformed : code === 'rate_limited' ? t.limited : t.unavailable
}
