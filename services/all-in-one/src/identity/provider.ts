import { createPublicKey, randomUUID } from 'node:crypto'
import { type HttpServer, httpServer, type Logger } from '@ponte/service-kit'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { attemptLimit } from './attempts'
import { type Links, type LinkType, type Mail, mailedLinks } from './links'
import { sessionBody, userBody } from './session'
import { isTotpCode, newTotpSecret } from './totp'
import { type Factor, type IdentityUsers, openIdentityUsers, type Session, type User } from './users'

export interface IdentityProviderOptions {
  host: string
  /** 0 takes any free port. */
  port: number
  /** The setting to name when the port is taken. */
  portSetting?: string
  /** Where users and the signing key are kept, so that yesterday's tokens and logins still work. */
  stateFolder: string
  /** Expected in the `apikey` header. */
  publicClientKey: string
  issuer: string
  audience: string
  /** A sign-up is a user once the link in a mail was opened. By default it is one at once, whose address is not confirmed. */
  confirmsMail?: boolean
  /** Where links in mails lead that name no page of this machine. */
  pagesUrl?: string
  /** Sends a mail; by default none is sent. */
  mail?(mail: Mail): void
  logger?: Logger
  now?: () => Date
}

export interface IdentityProvider extends HttpServer {
  /** Makes the user, or gives an existing one this password again. Answers its id, the `sub` of its tokens. */
  ensureUser(email: string, password: string): Promise<string>
}

/**
 * The identity provider of embedded mode, in the shape of Supabase Auth with `Confirm email` off or on and `Require current password` on: password and
 * refresh grants, sign-up, links by mail, changes of the password, TOTP factors, log-out, JWKS. It is for development; a deployed gateway is pointed at a
 * real one by its settings.
 */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const users = openIdentityUsers(options.stateFolder)
  const app = express()
  app.disable('x-powered-by')
  app.use('/auth/v1', allowAnyOrigin, routes(users, options))
  app.use((_req, res) => void res.status(404).json({ code: 404, error_code: 'not_found', msg: 'There is no such route.' }))
  app.use(answerErrors(options.logger))
  return {
    ...httpServer('identity provider', app, {
      host: options.host,
      port: options.port,
      ...(options.portSetting ? { portSetting: options.portSetting } : {}),
    }),
    async ensureUser(email, password) {
      const user = (await users.add(email, password)) ?? (await users.check(email, password)) ?? users.find(email)
      if (!user) throw new Error(`The identity provider has no user ${email}.`)
      if (!(await users.check(email, password))) await users.setPassword(user.id, password)
      users.verifyEmail(user.id)
      return user.id
    },
  }
}

const GUESSES_MAX = 10
const GUESSES_PER_ADDRESS_MAX = 100
const PASSWORD_LENGTH_MIN = 8
const FACTORS_MAX = 10
const CHALLENGE_S = 300
const email = z.email().max(254)
const newPassword = z.string().max(1024)
const passwordGrant = z.object({ email, password: z.string().min(1).max(1024) })
const signupBody = z.object({ email, password: newPassword })
const addressBody = z.object({ email })
const refreshGrant = z.object({ refresh_token: z.string().min(1) })
const verifyBody = z.object({ type: z.enum(['signup', 'recovery']), token_hash: z.string().max(200) })
const userChange = z.object({ password: newPassword, current_password: z.string().max(1024).optional() })
const newFactor = z.object({
  factor_type: z.literal('totp'),
  friendly_name: z.string().max(100).default(''),
  issuer: z.string().max(100).default('Ponte'),
})
const factorProof = z.object({ challenge_id: z.string(), code: z.string().max(10) })

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly errorCode: string,
    message: string,
    readonly more: object = {},
  ) {
    super(message)
  }
}

interface Deps extends IdentityProviderOptions {
  users: IdentityUsers
  links: Links
  checkPassword: ReturnType<typeof limitedCheck>
}

function routes(users: IdentityUsers, options: IdentityProviderOptions): Router {
  const router = Router()
  const links = mailedLinks(options.mail ?? (() => undefined))
  const deps: Deps = { ...options, users, links, checkPassword: limitedCheck(users) }
  router.get('/.well-known/jwks.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=600').json({ keys: [users.publicJwk] })
  })
  router.use(requireClientKey(options.publicClientKey), express.json({ limit: '16kb' }))
  logins(router, deps)
  mailed(router, deps)
  own(router, deps)
  factors(router, deps)
  return router
}

function logins(router: Router, { users, checkPassword, ...options }: Deps): void {
  router.post('/token', async (req, res) => {
    if (req.query.grant_type === 'password') {
      const { email, password } = parse(passwordGrant, req.body)
      const user = await checkPassword(email, password, req.ip ?? '')
      if (options.confirmsMail && user.email_verified_at === null) throw new Refusal(400, 'email_not_confirmed', 'Email not confirmed')
      res.json(sessionBody(user, newSession(options, 'password'), users, options))
    } else if (req.query.grant_type === 'refresh_token') {
      const session = users.useRefreshToken(parse(refreshGrant, req.body).refresh_token)
      if (!session) throw new Refusal(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
      res.json(sessionBody(session.user, session.session, users, options))
    } else throw new Refusal(400, 'unsupported_grant_type', 'grant_type must be password or refresh_token')
  })
  router.post('/logout', (req, res) => {
    const { user, session } = callerOf(req, users, options)
    if (req.query.scope === 'local') users.endSession(session.id)
    else users.endSessionsOf(user.id, req.query.scope === 'others' ? session.id : undefined)
    res.status(204).end()
  })
}

function mailed(router: Router, { users, links, ...options }: Deps): void {
  const send = (user: User | undefined, email: string, type: LinkType, req: Request) => {
    if (!links.takeMail(email)) throw new Refusal(429, 'over_email_send_rate_limit', 'email rate limit exceeded')
    if (user) links.send(user, type, pageFor(req, options))
  }
  router.post('/signup', async (req, res) => {
    const { email, password } = parse(signupBody, req.body)
    requireStrong(password)
    const user = await users.add(email, password)
    if (!options.confirmsMail) {
      if (!user) throw new Refusal(422, 'user_already_exists', 'User already registered')
      return void res.json(sessionBody(user, newSession(options, 'password'), users, options))
    }
    const known = user ?? users.find(email)
    send(known?.email_verified_at === null ? known : undefined, email, 'signup', req)
    const at = new Date().toISOString()
    const shown = { id: randomUUID(), email: email.toLowerCase(), salt: '', hash: '', created_at: at, email_verified_at: null, factors: [] }
    res.json({ ...userBody(user ?? shown, options.audience), confirmation_sent_at: at })
  })
  router.post('/resend', (req, res) => {
    const { email } = parse(addressBody.extend({ type: z.literal('signup') }), req.body)
    const user = users.find(email)
    send(user?.email_verified_at === null ? user : undefined, email, 'signup', req)
    res.json({})
  })
  router.post('/recover', (req, res) => {
    const { email } = parse(addressBody, req.body)
    send(users.find(email), email, 'recovery', req)
    res.json({})
  })
  router.post('/verify', (req, res) => {
    const { type, token_hash } = parse(verifyBody, req.body)
    const user = users.byId(links.use(type, token_hash) ?? '')
    if (!user) throw new Refusal(403, 'otp_expired', 'Email link is invalid or has expired')
    users.verifyEmail(user.id)
    res.json(sessionBody(user, newSession(options, 'otp'), users, options))
  })
}

function own(router: Router, { users, links, checkPassword, ...options }: Deps): void {
  router.get('/user', (req, res) => void res.json(userBody(callerOf(req, users, options).user, options.audience)))
  router.put('/user', async (req, res) => {
    const { user, session } = callerOf(req, users, options)
    const { password, current_password } = parse(userChange, req.body)
    requireStrong(password)
    if (hasFactor(user) && session.factorAt === null)
      throw new Refusal(401, 'insufficient_aal', 'AAL2 session is required to update email or password when MFA is enabled.')
    // A session of a recovery link has no current password to name.
    if (session.method === 'password') {
      const refused = (code: string) => new Refusal(400, code, 'Current password required when setting new password.')
      if (!current_password) throw refused('current_password_required')
      await checkPassword(user.email, current_password, req.ip ?? '').catch(error => {
        throw error instanceof Refusal && error.status === 429 ? error : refused('current_password_invalid')
      })
    }
    if (await users.check(user.email, password))
      throw new Refusal(422, 'same_password', 'New password should be different from the old password.')
    await users.setPassword(user.id, password, session.id)
    links.forget(user.id)
    res.json(userBody(user, options.audience))
  })
}

function factors(router: Router, { users, ...options }: Deps): void {
  const guesses = attemptLimit(GUESSES_MAX)
  const challenges = new LRUCache<string, string>({ max: 1_000, ttl: CHALLENGE_S * 1000 })
  const factorIn = (user: User, id: unknown): Factor => {
    const factor = user.factors.find(factor => factor.id === id)
    if (!factor) throw new Refusal(404, 'mfa_factor_not_found', 'Factor not found')
    return factor
  }
  const timeOf = () => options.now?.() ?? new Date()
  router.post('/factors', (req, res) => {
    const { user, session } = callerOf(req, users, options)
    const { friendly_name, issuer } = parse(newFactor, req.body)
    if (user.factors.some(factor => factor.friendly_name === friendly_name))
      throw new Refusal(422, 'mfa_factor_name_conflict', `A factor with the friendly name "${friendly_name}" for this user already exists`)
    if (user.factors.length >= FACTORS_MAX)
      throw new Refusal(422, 'too_many_enrolled_mfa_factors', 'Maximum number of verified factors reached, unenroll to continue')
    if (hasFactor(user) && session.factorAt === null) throw new Refusal(403, 'insufficient_aal', 'AAL2 required to enroll a new factor')
    const factor = { id: randomUUID(), friendly_name, secret: newTotpSecret(), is_verified: false, created_at: new Date().toISOString() }
    users.addFactor(user.id, factor)
    const uri = `otpauth://totp/${encodeURIComponent(`${issuer}:${user.email}`)}?${new URLSearchParams({ secret: factor.secret, issuer })}`
    res.json({ id: factor.id, type: 'totp', friendly_name, totp: { qr_code: '<svg/>', secret: factor.secret, uri } })
  })
  router.post('/factors/:id/challenge', (req, res) => {
    const factor = factorIn(callerOf(req, users, options).user, req.params.id)
    const id = randomUUID()
    challenges.set(id, factor.id)
    res.json({ id, type: 'totp', expires_at: Math.floor(timeOf().getTime() / 1000) + CHALLENGE_S })
  })
  router.post('/factors/:id/verify', (req, res) => {
    const { user, session } = callerOf(req, users, options)
    const factor = factorIn(user, req.params.id)
    const { challenge_id, code } = parse(factorProof, req.body)
    if (challenges.get(challenge_id) !== factor.id)
      throw new Refusal(
        422,
        'mfa_challenge_expired',
        `MFA challenge ${challenge_id} has expired, verify against another challenge or create a new challenge.`,
      )
    // Counted before the code is checked, so that guesses at one moment do not pass together.
    if (!guesses.take(user.id)) throw new Refusal(429, 'over_request_rate_limit', 'Request rate limit reached')
    if (!isTotpCode(factor.secret, code, timeOf())) throw new Refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered')
    guesses.refund(user.id)
    challenges.delete(challenge_id)
    const factorAt = Math.floor(timeOf().getTime() / 1000)
    users.proveFactor(user.id, factor.id, session.id, factorAt)
    res.json(sessionBody(user, { ...session, factorAt }, users, options))
  })
  router.delete('/factors/:id', (req, res) => {
    const { user, session } = callerOf(req, users, options)
    const factor = factorIn(user, req.params.id)
    if (factor.is_verified && session.factorAt === null)
      throw new Refusal(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor')
    users.removeFactor(user.id, factor.id)
    res.json({ id: factor.id })
  })
}

const hasFactor = (user: User) => user.factors.some(({ is_verified }) => is_verified)

function requireStrong(password: string): void {
  if (password.length >= PASSWORD_LENGTH_MIN) return
  const text = `Password should be at least ${PASSWORD_LENGTH_MIN} characters.`
  throw new Refusal(422, 'weak_password', text, { weak_password: { reasons: ['length'] } })
}

/** The page that a link leads to: one of this machine, or else the one that was set. A page elsewhere would be handed what proves the address. */
function pageFor(req: Request, { pagesUrl = 'http://127.0.0.1:8080/dashboard' }: IdentityProviderOptions): string {
  const named = typeof req.query.redirect_to === 'string' ? URL.parse(req.query.redirect_to) : null
  if (named === null) return pagesUrl
  const isOurs = named.origin === new URL(pagesUrl).origin || ['127.0.0.1', 'localhost', '[::1]'].includes(named.hostname)
  return isOurs && /^https?:$/.test(named.protocol) ? `${named.origin}${named.pathname}` : pagesUrl
}

const newSession = ({ now }: IdentityProviderOptions, method: Session['method']): Session => ({
  ...{ id: randomUUID(), method, factorAt: null },
  loggedInAt: Math.floor((now?.() ?? new Date()).getTime() / 1000),
})

/** Bounds the guesses at one user's password, and those of one address at all users' passwords. */
function limitedCheck(users: IdentityUsers) {
  const guesses = attemptLimit(GUESSES_MAX)
  const guessesByAddress = attemptLimit(GUESSES_PER_ADDRESS_MAX)
  return async (email: string, password: string, address: string) => {
    const key = `${address} ${email.toLowerCase()}`
    // Counted before the password is checked, so that guesses at one moment do not pass together.
    const isAllowed = [guesses.take(key), guessesByAddress.take(address)].every(Boolean)
    if (!isAllowed) throw new Refusal(429, 'over_request_rate_limit', 'Too many attempts; try again in five minutes.')
    const user = await users.check(email, password)
    if (!user) throw new Refusal(400, 'invalid_credentials', 'Invalid login credentials')
    guesses.refund(key)
    guessesByAddress.refund(address)
    return user
  }
}

const sessionClaims = z.object({ sub: z.string(), session_id: z.string() })

/** User of a session that has not ended. */
function callerOf({ headers }: Request, users: IdentityUsers, options: IdentityProviderOptions): { user: User; session: Session } {
  const { sub, session_id } = claimsOf(headers.authorization, users, options)
  const [user, session] = [users.byId(sub), users.session(session_id)]
  if (user && session) return { user, session }
  throw new Refusal(403, 'session_not_found', 'Session from session_id claim in JWT does not exist')
}

function claimsOf(header: string | undefined, users: IdentityUsers, options: IdentityProviderOptions): z.infer<typeof sessionClaims> {
  try {
    const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1] ?? ''
    const key = createPublicKey(users.privateKeyPem)
    return sessionClaims.parse(jwt.verify(token, key, { algorithms: ['ES256'], issuer: options.issuer, audience: options.audience }))
  } catch (error) {
    throw new Refusal(403, 'bad_jwt', `invalid JWT: ${error instanceof jwt.JsonWebTokenError ? error.message : 'no session'}`)
  }
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const result = schema.safeParse(body ?? {})
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw new Refusal(400, 'validation_failed', `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'not valid'}`)
}

const requireClientKey =
  (key: string): RequestHandler =>
  (req, res, next) => {
    if (req.headers.apikey === key) return next()
    const message = req.headers.apikey === undefined ? 'No API key found in request' : 'Invalid API key'
    res.status(401).json({ message, hint: 'Send the public client key in the header apikey.' })
  }

/** The dashboard is served by another origin; the tokens travel in bodies and headers, never in cookies, so any origin may ask. */
const allowAnyOrigin: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Access-Control-Allow-Headers', 'apikey, authorization, content-type, x-client-info, x-supabase-api-version')
  res.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE')
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

const answerErrors =
  (logger?: Logger): ErrorRequestHandler =>
  (error, _req, res, _next) => {
    const known = error instanceof Refusal ? error : undefined
    const unreadable = typeof error === 'object' && error !== null && Number(Reflect.get(error, 'status')) < 500
    const status = known?.status ?? (unreadable ? 400 : 500)
    if (status === 500) logger?.error('the identity provider failed', { error })
    const fallback = unreadable ? 'The request could not be read.' : 'The identity provider failed.'
    res
      .status(status)
      .json({ code: status, error_code: known?.errorCode ?? 'bad_request', msg: known?.message ?? fallback, ...known?.more })
  }
