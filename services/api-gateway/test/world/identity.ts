import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'
import jwt from 'jsonwebtoken'

export interface SigningKey {
  kid: string
  alg: 'ES256' | 'RS256'
  privateKey: KeyObject
  publicKey: KeyObject
}

export const ISSUER = 'https://identity.example/auth/v1'
export const AUDIENCE = 'authenticated'

/** An identity provider on a real socket: it publishes keys, rotates them, signs tokens, refreshes sessions (first `first`), and can be down. */
export async function startIdentity(alg: SigningKey['alg'] = 'ES256', now: () => Date = () => new Date()) {
  let keys = [makeKey(alg)]
  let asked = 0
  let answering = true
  let cutting = false
  let padding = ''
  const server = await startHttpServer((req, res) => {
    asked += 1
    const cut = cutting || !answering
    cutting = false
    if (cut) return void req.socket.destroy()
    res.setHeader('Content-Type', 'application/json')
    if (req.url === '/auth/v1/token?grant_type=refresh_token') return void refresh(req, res)
    if (req.url === '/auth/v1/logout?scope=local') {
      loggedOut.push(String(req.headers.authorization))
      return void res.writeHead(204).end()
    }
    if (req.url === '/auth/v1/user') return void whenUserMayBeShown.then(() => res.writeHead(user.status).end(JSON.stringify(user.body)))
    res.end(
      JSON.stringify({ keys: keys.map(key => ({ ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, alg: key.alg, use: 'sig' })) }) +
        padding,
    )
  })
  const loggedOut: string[] = []
  let renewedToken: string | null = null
  let user = { status: 200, body: {} }
  let whenUserMayBeShown: Promise<unknown> = Promise.resolve()
  const refreshTokens = new Set(['first'])
  const refresh = async (req: IncomingMessage, res: ServerResponse) => {
    const { refresh_token } = (await json(req)) as { refresh_token: string }
    if (!refreshTokens.delete(refresh_token) || req.headers.apikey !== 'pk_public') return void res.writeHead(400).end('{}')
    const next = `${refresh_token}; & next`
    const access_token = renewedToken ?? `access for ${refresh_token}`
    refreshTokens.add(next)
    res.end(JSON.stringify({ access_token, refresh_token: next, expires_in: 3600, user: {} }))
  }
  const newest = () => {
    const key = keys.at(-1)
    if (!key) throw new Error('There is no key.')
    return key
  }
  return {
    jwksUrl: `${server.url}/auth/v1/.well-known/jwks.json`,
    asked: () => asked,
    /** Authorization headers of the log-outs it was asked for. */
    loggedOut,
    key: newest,
    /** A new key beside the old one, or in its place. */
    rotate(options: { keepOld: boolean; alg?: SigningKey['alg'] }) {
      keys = [...(options.keepOld ? keys : []), makeKey(options.alg ?? alg)]
    },
    setAnswering(value: boolean) {
      answering = value
    },
    /** Adds so many blanks to its answer. */
    pad(bytes: number) {
      padding = ' '.repeat(bytes)
    },
    /** The access token of each renewal from now on. */
    renewWith(token: string) {
      renewedToken = token
    },
    /** What it answers about the user of any session. */
    setUser(body: object, status = 200) {
      user = { status, body }
    },
    /** Answers about users once this is done. */
    holdUsersUntil(done: Promise<unknown>) {
      whenUserMayBeShown = done
    },
    /** Closes the connection of the next request instead of answering. */
    cutOff() {
      cutting = true
    },
    /** A token as a login gives it; claims and header can be bent. `undefined` leaves a claim out. */
    sign(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, key = newest()): string {
      const at = Math.floor(now().getTime() / 1000)
      const all = {
        iss: ISSUER,
        aud: AUDIENCE,
        sub: randomUUID(),
        iat: at,
        exp: at + 3600,
        role: 'authenticated',
        amr: [{ method: 'password', timestamp: at }],
        ...claims,
      }
      const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
      return jwt.sign(present, key.privateKey, { algorithm: key.alg, noTimestamp: true, header: { alg: key.alg, kid: key.kid, ...header } })
    },
    /** A well-signed token of any text, for what a library would refuse to sign. */
    signText(payload: string, header: Record<string, unknown> = {}): string {
      const { kid, alg, privateKey } = newest()
      const head = Buffer.from(JSON.stringify({ alg, kid, ...header })).toString('base64url')
      const signed = `${head}.${Buffer.from(payload).toString('base64url')}`
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${signed}.${signature.toString('base64url')}`
    },
    stop: server.stop,
  }
}
export type Identity = Awaited<ReturnType<typeof startIdentity>>

export function makeKey(alg: SigningKey['alg']): SigningKey {
  const pair = alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { kid: randomUUID(), alg, ...pair }
}
