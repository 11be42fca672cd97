/**
 * The identity provider in the shape of Supabase Auth, as browsers ask it. Its own client is not used: it keeps the refresh token where scripts read it, and
 * beside ours, in a cookie that they do not, most of it would lie idle.
 */

/** Failures of a login, by what to do next. */
export type LoginFault =
  | 'invalid_credentials'
  | 'weak_password'
  | 'same_password'
  | 'wrong_password'
  | 'bad_email'
  | 'no_provider'
  | 'unreachable'
  | 'refused'
  | 'email_not_confirmed'
  | 'too_many'
  | 'link_over'
  | 'wrong_code'
  | 'code_needed'
  | 'other_factor'
  | 'no_sign_up'
  | 'banned'
  | 'no_factors'
  | 'too_many_factors'
  | 'login_again'

export class LoginFailed extends Error {
  override name = 'LoginFailed'
  constructor(
    readonly fault: LoginFault,
    message = '',
  ) {
    super(message)
  }
}

export interface Credentials {
  email: string
  password: string
}
export interface Factor {
  id: string
  factor_type: string
  status: string
  friendly_name?: string
}
export interface ProvidedUser {
  email?: string
  factors?: Factor[]
}
export interface Grant {
  access_token: string
  refresh_token: string
  expires_in?: number
  user?: ProvidedUser
}
export type LinkType = 'signup' | 'recovery' | 'invite'

export interface IdentityClient {
  logIn(credentials: Credentials): Promise<Grant>
  /** Null when a mail has to be opened first: also for an address that is taken, which no stranger is to learn. */
  signUp(credentials: Credentials, page: string): Promise<Grant | null>
  /** Sends the mail of a sign-up again, or the one for a forgotten password; whether there is such a user stays unknown. */
  sendLink(type: 'signup' | 'recovery', email: string, page: string): Promise<void>
  proveLink(type: LinkType, tokenHash: string): Promise<Grant>
  userOf(token: string): Promise<ProvidedUser>
  /** `current` is not asked of who came by a link. */
  setPassword(token: string, password: string, current?: string): Promise<void>
  /** Ends the sessions of the user, all but this one. */
  endOthers(token: string): Promise<void>
  enrolFactor(token: string, name: string): Promise<{ id: string; uri: string; secret: string }>
  proveFactor(token: string, factorId: string, code: string): Promise<Grant>
  removeFactor(token: string, factorId: string): Promise<void>
}

/** By the codes of Supabase Auth (`error_code`); what is not here is refused for a reason that no reader can do something about. */
const FAULTS: Readonly<Record<string, LoginFault>> = {
  invalid_credentials: 'invalid_credentials',
  // Earlier releases.
  invalid_grant: 'invalid_credentials',
  email_not_confirmed: 'email_not_confirmed',
  weak_password: 'weak_password',
  same_password: 'same_password',
  current_password_invalid: 'wrong_password',
  current_password_required: 'wrong_password',
  email_address_invalid: 'bad_email',
  over_request_rate_limit: 'too_many',
  over_email_send_rate_limit: 'too_many',
  otp_expired: 'link_over',
  mfa_verification_failed: 'wrong_code',
  mfa_challenge_expired: 'wrong_code',
  mfa_verification_rejected: 'login_again',
  insufficient_aal: 'code_needed',
  signup_disabled: 'no_sign_up',
  email_provider_disabled: 'no_sign_up',
  user_banned: 'banned',
  mfa_totp_enroll_not_enabled: 'no_factors',
  mfa_totp_verify_not_enabled: 'no_factors',
  too_many_enrolled_mfa_factors: 'too_many_factors',
  reauthentication_needed: 'login_again',
  session_not_found: 'login_again',
  session_expired: 'login_again',
  bad_jwt: 'login_again',
  user_not_found: 'login_again',
}
/** Of a sign-up: the address is known, or its mail was sent a moment ago. */
const KNOWN_ADDRESS = ['user_already_exists', 'email_exists', 'over_email_send_rate_limit']

interface Refusal {
  status: number
  code: string | null
  text: string
}

export function faultOf({ status, code, text }: Refusal): LoginFault {
  // Earlier releases call it an invalid grant.
  if (text === 'Email not confirmed') return 'email_not_confirmed'
  const known = code !== null && Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined
  if (known) return known
  if (status === 429) return 'too_many'
  return status >= 500 ? 'unreachable' : 'refused'
}

class Refused extends LoginFailed {
  constructor(readonly refusal: Refusal) {
    super(faultOf(refusal), refusal.text)
  }
}

/** Asks the provider at `url` as its public client `key`. Everything throws LoginFailed. */
export function identityClient({ url, key }: { url: string; key: string }): IdentityClient {
  const ask = async <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, token?: string): Promise<T> => {
    const response = await fetch(`${url}/auth/v1/${path}`, {
      method,
      headers: { apikey: key, 'Content-Type': 'application/json', ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    }).catch((error: unknown) => {
      throw new LoginFailed('unreachable', String(error))
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok) return answer as T
    const code = textIn(answer, 'error_code') ?? textIn(answer, 'code') ?? textIn(answer, 'error')
    const text = textIn(answer, 'msg') ?? textIn(answer, 'message') ?? textIn(answer, 'error_description') ?? ''
    throw new Refused({ status: response.status, code, text })
  }
  const granted = (answer: Partial<Grant> | null): Grant => {
    if (answer?.access_token && answer.refresh_token) return answer as Grant
    throw new LoginFailed('refused', 'The answer holds no session.')
  }
  const isOneOf = (error: unknown, codes: readonly string[]) => error instanceof Refused && codes.includes(error.refusal.code ?? '')
  const at = (path: string, page: string) => `${path}?redirect_to=${encodeURIComponent(page)}`
  return {
    logIn: async credentials => granted(await ask('POST', 'token?grant_type=password', credentials)),
    async signUp(credentials, page) {
      try {
        const answer = await ask<Partial<Grant>>('POST', at('signup', page), credentials)
        return answer?.access_token ? granted(answer) : null
      } catch (error) {
        if (isOneOf(error, KNOWN_ADDRESS)) return null
        throw error
      }
    },
    async sendLink(type, email, page) {
      const asked = type === 'recovery' ? ask('POST', at('recover', page), { email }) : ask('POST', at('resend', page), { type, email })
      await asked.catch(error => {
        // The provider counts mails to users that it has, and answers others at once.
        if (!isOneOf(error, ['over_email_send_rate_limit', 'user_not_found'])) throw error
      })
    },
    proveLink: async (type, token_hash) => granted(await ask('POST', 'verify', { type, token_hash })),
    userOf: token => ask('GET', 'user', undefined, token),
    async setPassword(token, password, current) {
      await ask('PUT', 'user', { password, ...(current === undefined ? {} : { current_password: current }) }, token)
    },
    endOthers: token => ask('POST', 'logout?scope=others', undefined, token),
    async enrolFactor(token, name) {
      const body = { factor_type: 'totp', friendly_name: name, issuer: 'Ponte' }
      const { id, totp } = await ask<{ id: string; totp: { uri: string; secret: string } }>('POST', 'factors', body, token)
      return { id, uri: totp.uri, secret: totp.secret }
    },
    async proveFactor(token, factorId, code) {
      const challenge = await ask<{ id: string }>('POST', `factors/${factorId}/challenge`, {}, token)
      return granted(await ask('POST', `factors/${factorId}/verify`, { challenge_id: challenge.id, code }, token))
    },
    async removeFactor(token, factorId) {
      await ask('DELETE', `factors/${factorId}`, undefined, token)
    },
  }
}

/** The proven factor that a code is asked of; null when there is none. Throws when all that there are are of a kind that this page cannot ask for. */
export function factorToProve(user: ProvidedUser | undefined): Factor | null {
  const proven = (user?.factors ?? []).filter(({ status }) => status === 'verified')
  const usable = proven.find(({ factor_type }) => factor_type === 'totp')
  if (proven.length > 0 && !usable) throw new LoginFailed('other_factor')
  return usable ?? null
}

/** A member of a JSON answer that is text. */
export function textIn(answer: unknown, member: string): string | null {
  const text: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, member) : null
  return typeof text === 'string' ? text : null
}

/** A member of a token's payload that is text. */
export function claimIn(token: string, name: string): string | null {
  try {
    const bytes = Uint8Array.from(atob((token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/')), letter => letter.charCodeAt(0))
    return textIn(JSON.parse(new TextDecoder().decode(bytes)), name)
  } catch {
    return null
  }
}
