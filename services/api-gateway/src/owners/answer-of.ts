import { ApiError, type Caller } from '@ponte/contracts'
import type { Owner, OwnerRequest } from './owner'

/** An owner's answer to what the gateway asks for itself. Throws what the owner refuses with. */
export async function answerOf<T>(owner: Owner, caller: Caller, request: OwnerRequest): Promise<T> {
  const { status, headers, body } = await owner.ask(caller, request)
  const answer = JSON.parse(body.toString('utf8'))
  if (status < 300) return answer
  const retryAfterS = Number(headers['retry-after'])
  throw new ApiError(answer.code, answer.detail, retryAfterS > 0 ? { retryAfterS } : {})
}

export const asking = (path: string, body: object): OwnerRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
})
