import { randomUUID } from 'node:crypto'
import { type HttpServer, httpServer, type Logger } from '@ponte/service-kit'
import express, { type ErrorRequestHandler, type RequestHandler, Router } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { type IdentityUsers, openIdentityUsers, type User } from './identity-users'

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
  logger?: Logger
  now?: () => Date
}

export interface IdentityProvider extends HttpServer {
  /** Makes the user if there is none of this address yet. Answers its id, the `sub` of its tokens. */
  ensureUser(email: string, password: string): Promise<string>
}

const TOKEN_LIFETIME_S = 3600

/**
 * The identity provider of embedded mode, in the shape of Supabase Auth: password and refresh grants, sign-up, JWKS. It is for development:
 * no confirmation mails, no recovery, no limits. A deployed gateway is pointed at a real one by its settings (design, section 11).
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
      const user = (await users.add(email, password)) ?? (await users.check(email, password))
      if (!user) throw new Error(`The identity provider knows ${email} with another password.`)
      return user.id
    },
  }
}

const email = z.email().max(254)
const passwordGrant = z.object({ email, password: z.string().min(1).max(1024) })
const signupBody = z.object({ email, password: z.string().max(1024) })
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
  router.get('/.well-known/jwks.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=600').json({ keys: [users.publicJwk] })
  })
  router.use(requireClientKey(options.publicClientKey), express.json({ limit: '16kb' }))
  router.post('/token', async (req, res) => {
    if (req.query.grant_type === 'password') {
      const { email, password } = parse(passwordGrant, req.body)
      const user = await users.check(email, password)
      if (!user) throw new Refusal(400, 'invalid_credentials', 'Invalid login credentials')
      res.json(session(user, users, options))
    } else if (req.query.grant_type === 'refresh_token') {
      const user = users.useRefreshToken(parse(refreshGrant, req.body).refresh_token)
      if (!user) throw new Refusal(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
      res.json(session(user, users, options))
    } else throw new Refusal(400, 'unsupported_grant_type', 'grant_type must be password or refresh_token')
  })
  router.post('/signup', async (req, res) => {
    const { email, password } = parse(signupBody, req.body)
    if (password.length < 8) throw new Refusal(422, 'weak_password', 'Password should be at least 8 characters.')
    const user = await users.add(email, password)
    if (!user) throw new Refusal(422, 'user_already_exists', 'User already registered')
    res.json(session(user, users, options))
  })
  return router
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const result = schema.safeParse(body ?? {})
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw new Refusal(400, 'validation_failed', `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'not valid'}`)
}

/** The answer to a login, a refresh and a sign-up: the members of Supabase Auth that clients read. */
function session(user: User, users: IdentityUsers, options: IdentityProviderOptions) {
  const issuedAt = Math.floor((options.now?.() ?? new Date()).getTime() / 1000)
  const expiresAt = issuedAt + TOKEN_LIFETIME_S
  const metadata = { app_metadata: { provider: 'email', providers: ['email'] }, user_metadata: {} }
  const claims = {
    ...{ iss: options.issuer, aud: options.audience, sub: user.id, iat: issuedAt, exp: expiresAt },
    ...{ email: user.email, phone: '', role: 'authenticated', aal: 'aal1', session_id: randomUUID(), is_anonymous: false },
    ...metadata,
  }
  return {
    access_token: jwt.sign(claims, users.privateKeyPem, { algorithm: 'ES256', keyid: users.kid }),
    token_type: 'bearer',
    expires_in: TOKEN_LIFETIME_S,
    expires_at: expiresAt,
    refresh_token: users.issueRefreshToken(user),
    user: {
      ...{ id: user.id, aud: options.audience, role: 'authenticated', email: user.email, phone: '', email_confirmed_at: user.created_at },
      ...metadata,
      ...{ created_at: user.created_at, updated_at: user.created_at, is_anonymous: false },
    },
  }
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
