import { useSyncExternalStore } from 'react'
import { ask, RequestFailed } from '../../problem'
import { forgetMerchant } from './chosen-merchant'
import { claimIn, type Grant, type IdentityClient, identityClient, LoginFailed } from './identity'

/**
 * Who is logged in. The access token lives in this module's memory and nowhere else. The refresh token lies in a cookie that no script reads
 * and that only the gateway's `/dashboard/session` gets: a reload and another tab are logged in, a closed browser is not.
 */

interface Settings {
  auth_url: string | null
  public_client_key: string | null
  /** Payers, networks and time can be played here. */
  sandbox: boolean
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

function become(session: Omit<Grant, 'refresh_token'> | null): void {
  access = session && { token: session.access_token, until: Date.now() + (session.expires_in ?? 3600) * 1000 - EARLY_MS }
  state = session ? 'in' : 'out'
  // What one user chose is not the next one's.
  if (!session) forgetMerchant()
  for (const listener of listeners) listener()
}

/** Makes this the session of the browser, in every tab. */
export async function adopt({ access_token, refresh_token, expires_in }: Grant): Promise<void> {
  await inTurn(() => own('PUT', { refresh_token })).catch((error: unknown) => {
    throw new LoginFailed('unreachable', String(error))
  })
  become({ access_token, expires_in: expires_in ?? 3600 })
  otherTabs.postMessage('in')
}

/** Ends the session in every tab of this browser. */
export async function logOut(): Promise<void> {
  await own('DELETE')
  become(null)
  otherTabs.postMessage('out')
}

/** `sub` of the user; null when no one is logged in. */
export const userId = (): string | null => access && claimIn(access.token, 'sub')
export const userEmail = (): string | null => access && claimIn(access.token, 'email')

/** A token that is good for a minute at least. Throws RequestFailed when the session is over. */
export async function accessToken(): Promise<string> {
  if (!access || access.until < Date.now()) await refresh()
  if (!access) throw new RequestFailed(401, 'invalid_jwt', '', null)
  return access.token
}

/** Gets a new token, once for everyone who asks meanwhile. A refused one ends the session; throws RequestFailed while no server answers. */
export function refresh(): Promise<void> {
  refreshing ??= inTurn(async () => become(await own('POST'))).finally(() => {
    refreshing = null
  })
  return refreshing
}

/** A refresh token is good for one use, so tabs take turns. */
const inTurn = async <T>(work: () => Promise<T>): Promise<T> =>
  'locks' in navigator ? navigator.locks.request('ponte.session', work) : work()

/** The session that the gateway keeps for this browser. The header is one that other sites cannot send. */
async function own(method: 'PUT' | 'POST' | 'DELETE', kept?: Pick<Grant, 'refresh_token'>): Promise<Omit<Grant, 'refresh_token'> | null> {
  const headers = { 'X-Ponte-Session': '1', ...(kept ? { 'Content-Type': 'application/json' } : {}) }
  const { body } = await ask<Omit<Grant, 'refresh_token'> | null>('/dashboard/session', {
    method,
    headers,
    ...(kept ? { body: JSON.stringify(kept) } : {}),
  })
  return body
}

/** The identity provider that the settings name. Throws LoginFailed without one. */
export async function identity(): Promise<IdentityClient> {
  const { auth_url, public_client_key } = await readSettings()
  if (!auth_url) throw new LoginFailed('no_provider')
  return identityClient({ url: auth_url, key: public_client_key ?? '' })
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
export const isSandbox = async (): Promise<boolean> => (await readSettings()).sandbox
export const clientKey = async (): Promise<string | null> => (await readSettings()).public_client_key
