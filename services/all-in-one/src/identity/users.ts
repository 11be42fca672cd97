import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'

/** One JSON file in a folder that only this machine's user may read. */
const stateSchema = z.object({
  signing_key: z.object({ kid: z.string(), pem: z.string() }),
  users: z.array(
    z.object({
      id: z.string(),
      email: z.string(),
      salt: z.string(),
      hash: z.string(),
      created_at: z.string(),
      email_verified_at: z.string().nullable().default(null),
      factors: z
        .array(
          z.object({ id: z.string(), friendly_name: z.string(), secret: z.string(), is_verified: z.boolean(), created_at: z.string() }),
        )
        .default(() => []),
    }),
  ),
  refresh_tokens: z.array(
    z.object({
      hash: z.string(),
      user_id: z.string(),
      used_at: z.number().nullable(),
      session_id: z.string().default(randomUUID),
      logged_in_at: z.number().default(0),
      method: z.enum(['password', 'otp']).default('password'),
      factor_at: z.number().nullable().default(null),
    }),
  ),
})
type State = z.infer<typeof stateSchema>
export type User = State['users'][number]
export type Factor = User['factors'][number]

export interface Session {
  id: string
  loggedInAt: number
  /** By the password, or by a link in a mail. */
  method: 'password' | 'otp'
  /** When it proved a second factor. */
  factorAt: number | null
}

export interface IdentityUsers {
  kid: string
  privateKeyPem: string
  publicJwk: object
  /** The new user, or undefined when the address is taken. */
  add(email: string, password: string): Promise<User | undefined>
  /** The user, or undefined when address or password is wrong; both take the same time. */
  check(email: string, password: string): Promise<User | undefined>
  find(email: string): User | undefined
  byId(userId: string): User | undefined
  /** Ends all sessions of the user but this one. */
  setPassword(userId: string, password: string, keptSession?: string): Promise<void>
  verifyEmail(userId: string): void
  issueRefreshToken(user: User, session: Session): string
  /** The session of a refresh token, which is then used up. A token that was spent before is a stolen one or its thief's: its session ends. */
  useRefreshToken(token: string): { user: User; session: Session } | undefined
  session(id: string): Session | undefined
  endSession(sessionId: string): void
  endSessionsOf(userId: string, keptSession?: string): void
  addFactor(userId: string, factor: Factor): void
  /** Its session has proven it, and those that have not end with their tokens. */
  proveFactor(userId: string, factorId: string, sessionId: string, at: number): void
  removeFactor(userId: string, factorId: string): void
}

/** Like Supabase Auth, a token just used may be used again for a moment: two tabs of one browser refresh at once. */
const REUSE_MS = 10_000
const REFRESH_TOKENS_KEPT = 1_000
const hashPassword = promisify<string, Buffer, number, Buffer>(scrypt)

export function openIdentityUsers(folder: string): IdentityUsers {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'identity-provider.json')
  const state = read(file) ?? firstState()
  const save = () => {
    writeFileSync(`${file}.new`, JSON.stringify(state, null, 2), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  save()

  const byId = (userId: string) => state.users.find(({ id }) => id === userId)
  const find = (email: string) => state.users.find(user => user.email === email.toLowerCase())
  const endSessions = (ended: (token: State['refresh_tokens'][number]) => boolean) => {
    state.refresh_tokens = state.refresh_tokens.filter(token => !ended(token))
    save()
  }
  const endSessionsOf = (userId: string, keptSession?: string) =>
    endSessions(({ user_id, session_id }) => user_id === userId && session_id !== keptSession)
  const privateKey = createPrivateKey(state.signing_key.pem)
  return {
    kid: state.signing_key.kid,
    privateKeyPem: state.signing_key.pem,
    publicJwk: {
      ...createPublicKey(privateKey).export({ format: 'jwk' }),
      kid: state.signing_key.kid,
      alg: 'ES256',
      use: 'sig',
      key_ops: ['verify'],
    },
    async add(email, password) {
      const salt = randomBytes(16)
      const hash = await hashPassword(password, salt, 32)
      if (find(email)) return undefined
      const user = {
        id: randomUUID(),
        email: email.toLowerCase(),
        salt: salt.toString('hex'),
        hash: hash.toString('hex'),
        created_at: new Date().toISOString(),
        email_verified_at: null,
        factors: [],
      }
      state.users.push(user)
      save()
      return user
    },
    async check(email, password) {
      const user = find(email)
      const hash = await hashPassword(password, Buffer.from(user?.salt ?? '00'.repeat(16), 'hex'), 32)
      return user && timingSafeEqual(hash, Buffer.from(user.hash, 'hex')) ? user : undefined
    },
    find,
    byId,
    async setPassword(userId, password, keptSession) {
      const salt = randomBytes(16)
      const hash = await hashPassword(password, salt, 32)
      const user = byId(userId)
      if (!user) return
      Object.assign(user, { salt: salt.toString('hex'), hash: hash.toString('hex') })
      endSessionsOf(userId, keptSession)
    },
    verifyEmail(userId) {
      const user = byId(userId)
      if (!user || user.email_verified_at) return
      user.email_verified_at = new Date().toISOString()
      save()
    },
    issueRefreshToken(user, { id, loggedInAt, method, factorAt }) {
      const token = randomBytes(24).toString('base64url')
      const ownedBy = { user_id: user.id, session_id: id, logged_in_at: loggedInAt, method, factor_at: factorAt }
      state.refresh_tokens.push({ hash: hashToken(token), used_at: null, ...ownedBy })
      state.refresh_tokens.splice(0, state.refresh_tokens.length - REFRESH_TOKENS_KEPT)
      save()
      return token
    },
    useRefreshToken(token) {
      const found = state.refresh_tokens.find(({ hash }) => hash === hashToken(token))
      const user = state.users.find(({ id }) => id === found?.user_id)
      if (!found || !user) return undefined
      if (found.used_at !== null && Date.now() - found.used_at > REUSE_MS) {
        endSessions(({ session_id }) => session_id === found.session_id)
        return undefined
      }
      found.used_at ??= Date.now()
      save()
      return { user, session: sessionOf(found) }
    },
    endSession: sessionId => endSessions(({ session_id }) => session_id === sessionId),
    endSessionsOf,
    session(id) {
      const found = state.refresh_tokens.findLast(({ session_id }) => session_id === id)
      return found && sessionOf(found)
    },
    addFactor(userId, factor) {
      byId(userId)?.factors.push(factor)
      save()
    },
    proveFactor(userId, factorId, sessionId, at) {
      const user = byId(userId)
      if (!user) return
      // Unverified factors go.
      user.factors = user.factors.filter(({ id, is_verified }) => is_verified || id === factorId)
      for (const factor of user.factors) if (factor.id === factorId) factor.is_verified = true
      for (const token of state.refresh_tokens) if (token.session_id === sessionId) token.factor_at = at
      endSessions(({ user_id, factor_at }) => user_id === userId && factor_at === null)
    },
    removeFactor(userId, factorId) {
      const user = byId(userId)
      if (!user) return
      user.factors = user.factors.filter(({ id }) => id !== factorId)
      for (const token of state.refresh_tokens) if (token.user_id === userId) token.factor_at = null
      save()
    },
  }
}

const sessionOf = ({ session_id, logged_in_at, method, factor_at }: State['refresh_tokens'][number]): Session => ({
  ...{ id: session_id, loggedInAt: logged_in_at, method, factorAt: factor_at },
})
const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

function read(file: string): State | undefined {
  if (!existsSync(file)) return undefined
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    throw new Error(`${file} cannot be read. Remove it to start with no users.`, { cause: error })
  }
}

function firstState(): State {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { signing_key: { kid: randomUUID(), pem }, users: [], refresh_tokens: [] }
}
