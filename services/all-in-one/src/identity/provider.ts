import { createPublicKey, randomUUID } from 'node:crypto'
import { type HttpServer, httpServer, type Logger } from '@ponte/service-kit'
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { attemptLimit } from './attempts'
import { type Mail, passwordRecovery } from './recovery'
import { sessionBody } from './session'
import { type IdentityUsers, openIdentityUsers, type Session } from './users'

export interface IdentityProviderOptions {
  host: string
  /** 0 takes any free port. */
  port: number
  /** The setting to name when the port is taken. */
  portSetting?: string
  /** Where users and the signing key are kept, so that yesterday's tokens and logins still work. */
  stateFolder: string
  /** What the `apikey` header must carry. */
  publicClientKey: string
  /** `iss` of the tokens. */
  issuer: string
  /** `aud` of the tokens. */
  audience: string
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
 * The identity provider of embedded mode, in the shape of Supabase Auth: password and refresh grants, sign-up, log-out, password reset by mail,
 * JWKS. It is for development; a deployed gateway is pointed at a real one by its settings.
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
      if (!(await users.check(email, password))) await users.resetPassword(user.id, password)
      users.verifyEmail(user.id)
      return user.id
    },
  }
}

const GUESSES_MAX = 10
const GUESSES_PER_ADDRESS_MAX = 100
const email = z.email().max(254)
const passwordGrant = z.object({ email, password: z.string().min(1).max(1024) })
const signupBody = z.object({ email, password: z.string().max(1024) })
const recoverBody = z.object({ email })
const refreshGrant = z.object({ refresh_token: z.string().min(1) })

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly errorCode: string,
    message: string,
  ) {
    super(message)
  }
}

function routes(users: IdentityUsers, options: IdentityProviderOptions): Router {
  const router = Router()
  const recovery = passwordRecovery(users, { baseUrl: options.issuer, mail: options.mail ?? (() => undefined) })
  const checkPassword = limitedCheck(users)
  router.get('/.well-known/jwks.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=600').json({ keys: [users.publicJwk] })
  })
  router.use(recovery.pages)
  router.use(requireClientKey(options.publicClientKey), express.json({ limit: '16kb' }))
  router.post('/token', async (req, res) => {
    if (req.query.grant_type === 'password') {
      const { email, password } = parse(passwordGrant, req.body)
      const user = await checkPassword(email, password, req.ip ?? '')
      res.json(sessionBody(user, newSession(options), users, options))
    } else if (req.query.grant_type === 'refresh_token') {
      const session = users.useRefreshToken(parse(refreshGrant, req.body).refresh_token)
      if (!session) throw new Refusal(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
      res.json(sessionBody(session.user, session.session, users, options))
    } else throw new Refusal(400, 'unsupported_grant_type', 'grant_type must be password or refresh_token')
  })
  router.post('/signup', async (req, res) => {
    const { email, password } = parse(signupBody, req.body)
    if (password.length < 8) throw new Refusal(422, 'weak_password', 'Password should be at least 8 characters.')
    const user = await users.add(email, password)
    if (!user) throw new Refusal(422, 'user_already_exists', 'User already registered')
    res.json(sessionBody(user, newSession(options), users, options))
  })
  router.post('/recover', (req, res) => {
    if (!recovery.request(parse(recoverBody, req.body).email))
      throw new Refusal(429, 'over_email_send_rate_limit', 'Too many mails to this address; try again later.')
    res.json({})
  })
  router.post('/logout', (req, res) => {
    const { sub, session_id } = claimsOf(req.headers.authorization, users, options)
    if (req.query.scope === 'local') users.endSession(session_id)
    else users.endSessionsOf(sub)
    res.status(204).end()
  })
  return router
}

const newSession = ({ now }: IdentityProviderOptions): Session => ({
  id: randomUUID(),
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

function claimsOf(header: string | undefined, users: IdentityUsers, options: IdentityProviderOptions): z.infer<typeof sessionClaims> {
  try {
    const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1] ?? ''
    const key = createPublicKey(users.privateKeyPem)
    return sessionClaims.parse(jwt.verify(token, key, { algorithms: ['ES256'], issuer: options.issuer, audience: options.audience }))
  } catch (error) {
    throw new Refusal(401, 'bad_jwt', `invalid JWT: ${error instanceof jwt.JsonWebTokenError ? error.message : 'no session'}`)
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
  res.setHeader('Access-Control-Allow-Methods', 'GET, POST')
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
    res.status(status).json({ code: status, error_code: known?.errorCode ?? 'bad_request', msg: known?.message ?? fallback })
  }
