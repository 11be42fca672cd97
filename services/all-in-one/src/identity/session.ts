import jwt from 'jsonwebtoken'
import type { Factor, IdentityUsers, Session, User } from './users'

const TOKEN_LIFETIME_S = 3600

/** The answer to a login, a refresh and a sign-up: the members of Supabase Auth that clients read. */
export function sessionBody(
  user: User,
  session: Session,
  users: IdentityUsers,
  options: { issuer: string; audience: string; now?: () => Date },
) {
  const issuedAt = Math.floor((options.now?.() ?? new Date()).getTime() / 1000)
  const expiresAt = issuedAt + TOKEN_LIFETIME_S
  const claims = {
    iss: options.issuer,
    aud: options.audience,
    sub: user.id,
    iat: issuedAt,
    exp: expiresAt,
    email: user.email,
    phone: '',
    role: 'authenticated',
    aal: session.factorAt === null ? 'aal1' : 'aal2',
    session_id: session.id,
    // A refresh leaves it as it is.
    amr: [
      ...(session.factorAt === null ? [] : [{ method: 'totp', timestamp: session.factorAt }]),
      { method: session.method, timestamp: session.loggedInAt },
    ],
    is_anonymous: false,
    ...metadataOf(user.email_verified_at),
  }
  return {
    access_token: jwt.sign(claims, users.privateKeyPem, { algorithm: 'ES256', keyid: users.kid }),
    token_type: 'bearer',
    expires_in: TOKEN_LIFETIME_S,
    expires_at: expiresAt,
    refresh_token: users.issueRefreshToken(user, session),
    user: userBody(user, options.audience),
  }
}

/** A user as Supabase Auth shows one to themselves. */
export const userBody = ({ id, email, email_verified_at, created_at, factors }: User, aud: string) => ({
  ...{ id, aud, role: 'authenticated', email, phone: '', email_confirmed_at: email_verified_at ?? undefined },
  ...{ created_at, updated_at: created_at, is_anonymous: false, identities: [], ...metadataOf(email_verified_at) },
  ...(factors.length > 0 ? { factors: factors.map(factorBody) } : {}),
})

const metadataOf = (verifiedAt: string | null) => ({
  app_metadata: { provider: 'email', providers: ['email'] },
  user_metadata: { email_verified: verifiedAt !== null },
})

const factorBody = ({ id, friendly_name, is_verified, created_at }: Factor) => ({
  ...{ id, friendly_name, factor_type: 'totp', status: is_verified ? 'verified' : 'unverified' },
  ...{ created_at, updated_at: created_at, phone: '', last_challenged_at: null },
})
