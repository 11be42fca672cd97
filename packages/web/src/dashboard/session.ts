import { useSyncExternalStore } from 'react'
import { ask, RequestFailed } from '../problem'

/**
 * Who is logged in. The access token lives in this module's memory and nowhere else; the refresh token, which each use replaces, in the tab's
 * session storage, so that a reload does not log out and closing the tab does.
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

const KEY = 'ponte.refresh'
const EARLY_MS = 60_000
const listeners = new Set<() => void>()
let access: { token: string; until: number } | null = null
let refreshing: Promise<void> | null = null
let settings: Promise<Settings> | null = null

const isIn = () => access !== null || sessionStorage.getItem(KEY) !== null
const tell = () => {
  for (const listener of listeners) listener()
}

export const useLoggedIn = (): boolean =>
  useSyncExternalStore(listener => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, isIn)

export const logIn = (credentials: Credentials): Promise<void> => grant('token?grant_type=password', credentials)
export const signUp = (credentials: Credentials): Promise<void> => grant('signup', credentials)

export function logOut(): void {
  access = null
  sessionStorage.removeItem(KEY)
  tell()
}

/** A token that is good for a minute at least. Throws RequestFailed when the session is over. */
export async function accessToken(): Promise<string> {
  if (!access || access.until < Date.now()) await refresh()
  if (!access) throw new RequestFailed(401, 'invalid_jwt', '', null)
  return access.token
}

/** Gets a new token, once for everyone who asks meanwhile. A refused one ends the session; an unreachable provider does not. */
export function refresh(): Promise<void> {
  refreshing ??= (async () => {
    try {
      const token = sessionStorage.getItem(KEY)
      if (token === null) return logOut()
      await grant('token?grant_type=refresh_token', { refresh_token: token })
    } catch (error) {
      if (error instanceof LoginFailed && error.fault !== 'unreachable') return logOut()
      throw new RequestFailed(0, 'unreachable', String(error), null)
    } finally {
      refreshing = null
    }
  })()
  return refreshing
}

async function grant(path: string, body: object): Promise<void> {
  const { auth_url, public_client_key } = await readSettings()
  if (!auth_url) throw new LoginFailed('no_provider')
  const response = await fetch(`${auth_url}/auth/v1/${path}`, {
    method: 'POST',
    headers: { apikey: public_client_key ?? '', 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw new LoginFailed('unreachable', String(error))
  })
  const answer: unknown = await response.json().catch(() => null)
  if (!response.ok) throw new LoginFailed(faultOf(answer), textOf(answer, 'msg') ?? textOf(answer, 'error_description') ?? '')
  const session = answer as Partial<Grant>
  // A provider that first wants the address confirmed answers a sign-up without tokens.
  if (!session.access_token || !session.refresh_token) throw new LoginFailed('refused')
  access = { token: session.access_token, until: Date.now() + (session.expires_in ?? 3600) * 1000 - EARLY_MS }
  sessionStorage.setItem(KEY, session.refresh_token)
  tell()
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
