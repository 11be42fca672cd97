import { Ponte } from '@ponte/sdk'
import { type ProfileFile, UsageError } from './profile'

interface Tokens {
  access_token: string
  refresh_token: string
}

export const merchantClient = (profile: ProfileFile): Ponte => {
  const { base_url, api_key } = profile.read()
  return new Ponte(api_key, { baseUrl: base_url })
}

/** A client for the merchant's account: with the login of its user where there is one, else with the key, which may be a named one with the scope. */
export function accountClient(profile: ProfileFile): Ponte {
  const { session, user } = profile.read()
  if (!session && !user) return merchantClient(profile)
  let token: string | undefined
  const credential = async () => {
    token ??= (await openSession(profile)).access_token
    return token
  }
  return new Ponte(credential, { baseUrl: profile.read().base_url })
}

async function openSession(profile: ProfileFile): Promise<Tokens> {
  const { session, user } = profile.read()
  if (session) {
    const tokens = await grant(session, 'refresh_token', { refresh_token: session.refresh_token })
    // A refresh token is good once.
    profile.save({ session: { ...session, refresh_token: tokens.refresh_token } })
    return tokens
  }
  if (user) return grant(user, 'password', { email: user.email, password: user.password })
  throw new UsageError('The login is gone. Run: ponte login --user you@example.com')
}

/** Logs a user in where the gateway's own pages do. */
export async function logIn(baseUrl: string, email: string, password: string) {
  const answer = await fetch(`${baseUrl}/settings.json`)
  const { auth_url, public_client_key } = (answer.ok ? await answer.json() : {}) as { auth_url?: string; public_client_key?: string }
  if (!auth_url) throw new UsageError(`${baseUrl} does not name an identity provider.`)
  const place = { auth_url, client_key: public_client_key ?? '' }
  const { refresh_token } = await grant(place, 'password', { email, password })
  return { ...place, refresh_token }
}

async function grant(place: { auth_url: string; client_key: string }, type: 'password' | 'refresh_token', body: object): Promise<Tokens> {
  const answer = await fetch(`${place.auth_url}/auth/v1/token?grant_type=${type}`, {
    method: 'POST',
    headers: { apikey: place.client_key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok)
    throw new UsageError(`The identity provider refused the login (${answer.status}). Run: ponte login --user you@example.com`)
  return (await answer.json()) as Tokens
}
