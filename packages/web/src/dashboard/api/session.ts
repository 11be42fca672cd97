import { useSyncExternalStore } from 'react'
import { ask, RequestFailed } from '../../problem'
import { forgetMerchant } from './chosen-merchant'

/**
 * Who is logged in. The access token lives in this module's memory and nowhere else. The refresh token lies in a cookie that no script reads
 * and that only the gateway's `/dashboard/session` gets: a reload and another tab are logged in, a closed browser is not.
 */

interface Settings {
  auth_url: string | null
  public_client_key: string | null
}
interface Grant {
  access_token: string
  refresh_token: string
  expires_in: number
}
export interface Credentials {
  email: string
  password: string
}
export type LoginFault = 'invalid_credentials' | 'user_exists' | 'weak_password' | 'no_provider' | 'unreachable' | 'refused'

export class LoginFailed extends Error {
  override name = 'LoginFailed'
  constructor(
    readonly fault: LoginFault,
    message = '',
  ) {
    super(message)
  }
}

const EARLY_MS = 60_000
const listeners = new Set<() => void>()
const otherTabs = new BroadcastChannel('ponte.session')
// Another tab logged in or out: what is shown here may be another merchant's.
otherTabs.onmessage = () => window.location.reload()
let access: { token: string; until: number } | null = null
let state: 'unknown' | 'in' | 'out' = 'unknown'
let refreshing: Promise<void> | null = null
let settings: Promise<Settings> | null = null

/** `unknown` until `refresh` has asked once. */
export const useSession = (): typeof state =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )

function become(session: Pick<Grant, 'access_token' | 'expires_in'> | null): void {
  access = session && { token: session.access_token, until: Date.now() + (session.expires_in ?? 3600) * 1000 - EARLY_MS }
  state = session ? 'in' : 'out'
  // What one user chose is not the next one's.
  if (!session) forgetMerchant()
  for (const listener of listeners) listener()
}

export const logIn = (credentials: Credentials): Promise<void> => begin('token?grant_type=password', credentials)
export const signUp = (credentials: Credentials): Promise<void> => begin('signup', credentials)

/** Ends the session in every tab of this browser. */
export async function logOut(): Promise<void> {
  await own('DELETE')
  become(null)
  otherTabs.postMessage('out')
}

/** `sub` of the user; null when no one is logged in. */
export const userId = (): string | null => {
  const claims = access?.token.split('.')[1]?.replace(/-/g, '+').replace(/_/g, '/')
  return claims === undefined ? null : textOf(JSON.parse(atob(claims)), 'sub')
}

/** A token that is good for a minute at least. Throws RequestFailed when the session is over. */
export async function accessToken(): Promise<string> {
  if (!access || access.until < Date.now()) await refresh()
  if (!access) throw new RequestFailed(401, 'invalid_jwt', '', null)
  return access.token
}

/** Gets a new token, once for everyone who asks meanwhile. A refused one ends the session; throws RequestFailed while no server answers. */
export function refresh(): Promise<void> {
  // A refresh token is good for one use, so tabs take turns.
  const take = async () => become(await own('POST'))
  refreshing ??= Promise.resolve('locks' in navigator ? navigator.locks.request('ponte.session', take) : take()).finally(() => {
    refreshing = null
  })
  return refreshing
}

/** The session that the gateway keeps for this browser. The header is one that other sites cannot send. */
async function own(method: 'PUT' | 'POST' | 'DELETE', kept?: Pick<Grant, 'refresh_token'>): Promise<Grant | null> {
  const headers = { 'X-Ponte-Session': '1', ...(kept ? { 'Content-Type': 'application/json' } : {}) }
  const { body } = await ask<Grant | null>('/dashboard/session', { method, headers, ...(kept ? { body: JSON.stringify(kept) } : {}) })
  return body
}

async function begin(path: string, credentials: Credentials): Promise<void> {
  const { auth_url, public_client_key } = await readSettings()
  if (!auth_url) throw new LoginFailed('no_provider')
  const response = await fetch(`${auth_url}/auth/v1/${path}`, {
    method: 'POST',
    headers: { apikey: public_client_key ?? '', 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  }).catch((error: unknown) => {
    throw new LoginFailed('unreachable', String(error))
  })
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw new LoginFailed(faultOf(answer), textOf(answer, 'msg') ?? textOf(answer, 'error_description') ?? '')
  const { access_token, refresh_token, expires_in = 3600 } = answer as Partial<Grant>
  // A provider that first wants the address confirmed answers a sign-up without tokens.
  if (!access_token || !refresh_token) throw new LoginFailed('refused')
  await own('PUT', { refresh_token }).catch((error: unknown) => {
    throw new LoginFailed('unreachable', String(error))
  })
  become({ access_token, expires_in })
  otherTabs.postMessage('in')
}

function readSettings(): Promise<Settings> {
  settings ??= ask<Settings>('/settings.json').then(
    ({ body }) => body,
    error => {
      settings = null
      throw new LoginFailed('unreachable', String(error))
    },
  )
  return settings
}

export const authUrl = async (): Promise<string | null> => (await readSettings()).auth_url
export const clientKey = async (): Promise<string | null> => (await readSettings()).public_client_key

const textOf = (answer: unknown, member: string): string | null => {
  const text: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, member) : null
  return typeof text === 'string' ? text : null
}

function faultOf(answer: unknown): LoginFault {
  const code = textOf(answer, 'error_code') ?? textOf(answer, 'error')
  if (code === 'invalid_credentials' || code === 'invalid_grant') return 'invalid_credentials'
  if (code === 'user_already_exists' || code === 'email_exists') return 'user_exists'
  return code === 'weak_password' ? 'weak_password' : 'refused'
}
