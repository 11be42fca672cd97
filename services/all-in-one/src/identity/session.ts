import jwt from 'jsonwebtoken'
import type { IdentityUsers, Session, User } from './users'

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
  const email_verified = user.email_verified_at !== null
  const metadata = { app_metadata: { provider: 'email', providers: ['email'] }, user_metadata: { email_verified } }
  const claims = {
    iss: options.issuer,
    aud: options.audience,
    sub: user.id,
    iat: issuedAt,
    exp: expiresAt,
    email: user.email,
    email_verified,
    phone: '',
    role: 'authenticated',
    aal: 'aal1',
    session_id: session.id,
    // A refresh leaves it as it is.
    amr: [{ method: 'password', timestamp: session.loggedInAt }],
    is_anonymous: false,
    ...metadata,
  }
  return {
    access_token: jwt.sign(claims, users.privateKeyPem, { algorithm: 'ES256', keyid: users.kid }),
    token_type: 'bearer',
    expires_in: TOKEN_LIFETIME_S,
    expires_at: expiresAt,
    refresh_token: users.issueRefreshToken(user, session),
    user: {
      id: user.id,
      aud: options.audience,
      role: 'authenticated',
      email: user.email,
      phone: '',
      email_confirmed_at: user.email_verified_at,
      created_at: user.created_at,
      updated_at: user.created_at,
      is_anonymous: false,
      ...metadata,
    },
  }
}
