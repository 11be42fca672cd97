import type { Grant, LinkType } from './identity'

/** Result of a mailed link: a proof to hand in, a session that the provider has begun already, or its refusal. */
export type MailedLink =
  | { kind: 'proof'; type: LinkType; tokenHash: string }
  | { kind: 'session'; type: LinkType; grant: Grant }
  | { kind: 'refused' }

const TYPES: readonly string[] = ['signup', 'recovery', 'invite'] satisfies LinkType[]
const isType = (type: string | null): type is LinkType => type !== null && TYPES.includes(type)

/**
 * The link that led here, from what stands behind the #; null on any other page. The mails that the manual shows carry a proof, those that Supabase Auth has by
 * itself go through the provider and bring a session. A link that only logs in is none: it would put who opens it into another's account.
 */
export function mailedLinkIn(hash: string): MailedLink | null {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const type = fields.get('type')
  const tokenHash = fields.get('token_hash')
  if (tokenHash && isType(type)) return { kind: 'proof', type, tokenHash }
  const [access_token, refresh_token] = [fields.get('access_token'), fields.get('refresh_token')]
  if (access_token && refresh_token && isType(type)) {
    const expires_in = Number(fields.get('expires_in')) || 3600
    return { kind: 'session', type, grant: { access_token, refresh_token, expires_in } }
  }
  return fields.has('error_code') || fields.has('error') ? { kind: 'refused' } : null
}
