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

/** What the development identity provider remembers: one JSON file in a folder that only this machine's user may read. */
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
    }),
  ),
  refresh_tokens: z.array(
    z.object({
      hash: z.string(),
      user_id: z.string(),
      used_at: z.number().nullable(),
      session_id: z.string().default(randomUUID),
      logged_in_at: z.number().default(0),
    }),
  ),
})
type State = z.infer<typeof stateSchema>
export type User = State['users'][number]

/** A login and what followed from it. */
export interface Session {
  id: string
  /** Seconds. */
  loggedInAt: number
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
  /** A password that its owner chose by a link in a mail, which also shows that the address is theirs. Ends all sessions of the user. */
  resetPassword(userId: string, password: string): Promise<void>
  verifyEmail(userId: string): void
  issueRefreshToken(user: User, session: Session): string
  /** The session of a refresh token, which is then used up. A token that was spent before is a stolen one or its thief's: its session ends. */
  useRefreshToken(token: string): { user: User; session: Session } | undefined
  endSession(sessionId: string): void
  endSessionsOf(userId: string): void
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

  const find = (email: string) => state.users.find(user => user.email === email.toLowerCase())
  const endSessions = (ended: (token: State['refresh_tokens'][number]) => boolean) => {
    state.refresh_tokens = state.refresh_tokens.filter(token => !ended(token))
    save()
  }
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
    async resetPassword(userId, password) {
      const salt = randomBytes(16)
      const hash = await hashPassword(password, salt, 32)
      const user = state.users.find(({ id }) => id === userId)
      if (!user) return
      Object.assign(user, { salt: salt.toString('hex'), hash: hash.toString('hex'), email_verified_at: new Date().toISOString() })
      endSessions(token => token.user_id === userId)
    },
    verifyEmail(userId) {
      const user = state.users.find(({ id }) => id === userId)
      if (!user || user.email_verified_at) return
      user.email_verified_at = new Date().toISOString()
      save()
    },
    issueRefreshToken(user, { id, loggedInAt }) {
      const token = randomBytes(24).toString('base64url')
      state.refresh_tokens.push({ hash: hashToken(token), user_id: user.id, used_at: null, session_id: id, logged_in_at: loggedInAt })
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
      return { user, session: { id: found.session_id, loggedInAt: found.logged_in_at } }
    },
    endSession: sessionId => endSessions(({ session_id }) => session_id === sessionId),
    endSessionsOf: userId => endSessions(({ user_id }) => user_id === userId),
  }
}

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
