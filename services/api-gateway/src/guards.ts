import { type Credential, isFile, type Mode, type Operation, type Place } from '@ponte/contracts'
import type { Request, RequestHandler, Response } from 'express'
import { own, requireFreshLogin } from './account/changes'
import { requireMembership, requireMembershipStill, requireUnfrozen } from './account/membership'
import { noteUse } from './account/session-use'
import {
  actorIdIn,
  credentialOf,
  rememberTerms,
  requireApiKey,
  requirePermission,
  requireSession,
  termsIn,
  userIn,
} from './credentials/credentials'
import type { IdentityProvider } from './credentials/identity-provider'
import type { SessionTokens } from './credentials/session-token'
import { knownQuery } from './edge/known-query'
import { networkOf } from './limits/address-bucket'
import { limitConcurrency } from './limits/concurrency'
import { limitCaller, limitOpenings } from './limits/limit-handlers'
import type { Verdict } from './limits/rate-limit'
import { type Concurrency, createPresence } from './limits/turns'
import { termsOf } from './merchant/merchant'
import { isWaiting } from './owners/forward'
import type { Store } from './store'

export interface GuardDeps {
  store: Store
  tokens: SessionTokens
  takeCaller(bucket: string): Promise<Verdict>
  takeChange(bucket: string): Promise<Verdict>
  /** The same for orders that an address opens by one payment link. */
  takeOpening(bucket: string): Verdict
  /** Bounds per merchant in this replica. */
  concurrency: { reads: Concurrency; files: Concurrency; writes: Concurrency }
  now: () => Date
  freshLoginMs: number
  provider: IdentityProvider | null
  mode: Mode
}

const isRead = ({ method }: Pick<Request, 'method'>) => method === 'GET' || method === 'HEAD'

/** Makes what stands before an operation: who asks, how often, whether they may, and what they may ask for. */
export function guarding({
  store,
  tokens,
  takeCaller,
  takeChange,
  takeOpening,
  concurrency,
  now,
  freshLoginMs,
  provider,
  mode,
}: GuardDeps) {
  const merchantId = (res: Response) => termsIn(res).merchant_id
  const presence = createPresence(() => now().getTime())
  const limited = (limit: Concurrency) => limitConcurrency(limit, presence, merchantId)
  const turns = { reads: limited(concurrency.reads), files: limited(concurrency.files), writes: limited(concurrency.writes) }
  const atOnce: RequestHandler = (_req, _res, next) => next()
  const turnOf = (req: Request, operation: Operation) => {
    if (!isRead(req)) return turns.writes
    if (isFile(operation)) return turns.files
    // They have places of their own at the owner. In a queue each would wait for those before it too.
    return isWaiting(req) ? atOnce : turns.reads
  }
  const sessionTerms: RequestHandler = async (_req, res, next) => {
    rememberTerms(res, termsOf(await own(store, res)))
    next()
  }
  const payers: RequestHandler = (_req, _res, next) => {
    presence.note('payers')
    next()
  }
  const fresh: RequestHandler = async (_req, res, next) => {
    await requireFreshLogin(res, { now, freshLoginMs, provider })
    next()
  }
  const freshOfMember: RequestHandler = async (req, res, next) => {
    if ((await store.members.ofUser(userIn(res).id)).length > 0) return fresh(req, res, next)
    next()
  }
  const logins = { fresh: [fresh], fresh_of_member: [freshOfMember], any: [] }
  const key = requireApiKey(store.apiKeys.terms, mode)
  const session = requireSession(tokens, (user, req) =>
    noteUse(store.sessions, user, { userAgent: req.get('user-agent'), network: networkOf(req.ip ?? '') }, now()),
  )
  const limitKey = limitCaller(takeCaller, res => `key:${merchantId(res)}:${actorIdIn(res)}`)
  const limitUser = limitCaller(takeCaller, res => `user:${loginIn(res)}`)
  const limitChanges = limitCaller(takeChange, res => `changes:${loginIn(res)}`)

  return (operation: Operation, place: Place): RequestHandler[] => {
    const { permission, also = [], owner, method, credentials, login = 'any', whileFrozen, opensByLink = false } = operation
    const allowed = [...(permission === null ? [] : [permission]), ...also].map(requirePermission)
    const unfrozen = whileFrozen === 'refused' ? [requireUnfrozen] : []
    const query = knownQuery(operation)
    const turn: RequestHandler = (req, res, next) => turnOf(req, operation)(req, res, next)
    // The account's own requests do not wait behind the merchant's orders.
    const takesTurns = owner !== 'api-gateway' || credentials.includes('api_key') || permission === 'orders:read'
    const guards: Record<Credential, RequestHandler[]> = {
      api_key: [key, limitKey, ...allowed, ...unfrozen, query, turn],
      session: [
        ...[session, limitUser, query, requireMembership({ store, provider }, permission !== null), ...allowed, ...unfrozen],
        ...(owner === 'api-gateway' && method !== 'get' ? [limitChanges] : []),
        // May ask the identity provider, so it comes after the limits.
        ...logins[login],
        ...(login === 'any' || permission === null ? [] : [requireMembershipStill({ store }), ...allowed, ...unfrozen]),
        ...(takesTurns ? [sessionTerms, turn] : []),
      ],
      link: [payers, query, ...(opensByLink ? [limitOpenings(takeOpening)] : [])],
      internal: [],
    }
    if (place.credentials.length === 0) return owner === 'api-gateway' ? [query] : [payers, query]
    const remember: RequestHandler = (req, res, next) => {
      res.locals.credential = credentialOf(req, place.credentials)
      next()
    }
    return [remember, ...place.credentials.flatMap(credential => guards[credential].map(guard => only(credential, guard)))]
  }
}

/** Each login has its limits: one that was stolen would use up those by which its user stops it. */
const loginIn = (res: Response) => userIn(res).sessionId ?? userIn(res).id

const only =
  (credential: Credential, guard: RequestHandler): RequestHandler =>
  (req, res, next) =>
    res.locals.credential === credential ? guard(req, res, next) : next()
