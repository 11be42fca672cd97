import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError, invalidField } from '@ponte/contracts'
import { claimStatus, type RefundClaim } from './claim'

const MINUTE_MS = 60_000
const LIFE_MS = 15 * MINUTE_MS
const PAUSE_MS = MINUTE_MS
/** Of a claim; with the tries of each, 25 guesses at a million. */
const CODES_MAX = 5
export const CODE_TRIES_MAX = 5

/** Not keyed: the outbox of the same database holds the code itself until it is mailed, and afterwards it has expired. The claim's id keeps hashes of claims apart. */
const hashOf = ({ id }: Pick<RefundClaim, 'id'>, code: string) => createHash('sha256').update(`${id}:${code}`).digest('hex')

/** From when on a code is mailed when it is asked for; null where none is. */
export function nextCodeAt(claim: RefundClaim, at: Date): Date | null {
  if (claimStatus(claim, at) !== 'open' || claim.email === null || claim.codesIssued >= CODES_MAX) return null
  return claim.codeIssuedAt === null ? claim.createdAt : new Date(claim.codeIssuedAt.getTime() + PAUSE_MS)
}

/** The claim with another code; null while the last one was mailed a moment ago. Throws `invalid_state` where there is none to have. */
export function issueCode(claim: RefundClaim, code: string, at: Date): RefundClaim | null {
  if (claimStatus(claim, at) !== 'open')
    throw new ApiError('invalid_state', 'This link takes no address any more: ask the shop for another one.')
  if (!claim.wantsCode) throw new ApiError('invalid_state', 'This link takes an address without a code.')
  const next = nextCodeAt(claim, at)
  if (next === null) throw new ApiError('invalid_state', `${CODES_MAX} codes were mailed for this link: ask the shop for another one.`)
  if (at < next) return null
  return { ...claim, codeHash: hashOf(claim, code), codeIssuedAt: at, codesIssued: claim.codesIssued + 1, codeTries: 0 }
}

export const codeExpiresAt = ({ codeIssuedAt }: RefundClaim): Date => new Date((codeIssuedAt?.getTime() ?? 0) + LIFE_MS)

/** Whether it is the code that was mailed last, and still good. */
export function isCode(claim: RefundClaim, code: string, at: Date): boolean {
  const isRight = timingSafeEqual(Buffer.from(hashOf(claim, code)), Buffer.from(claim.codeHash ?? ''.padEnd(64)))
  return isRight && at < codeExpiresAt(claim) && claim.codeTries <= CODE_TRIES_MAX
}

/** The same for a code that is wrong, late, used up or missing. */
export function wrongCode(): ApiError {
  return invalidField(
    'code',
    'is not the code that was mailed last, or it has expired or was tried too often: check it, or ask for another one',
  )
}

/** Enough to recognise one's own address. */
export function emailHint(email: string): string {
  const at = email.lastIndexOf('@')
  return `${at > 1 ? email.slice(0, 1) : ''}…${email.slice(at)}`
}
