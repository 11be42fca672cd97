import type { Operation, Permission } from '@ponte/contracts'

/** What an answer shows of the secrets of a merchant: none, the one that its operation made, or those of before, and these only to a login of the last minutes. */
export type Showing = 'nothing' | 'made' | 'to_a_fresh_login'

/** A caller who may replace a secret may see it. */
export function showingOf(
  { secret, owner }: Pick<Operation, 'secret' | 'owner'>,
  { permissions, isSession }: { permissions: readonly Permission[]; isSession: boolean },
): Showing {
  const needed = owner === 'webhook-dispatcher' ? 'endpoints:write' : 'secrets:write'
  if (secret === undefined || !permissions.includes(needed)) return 'nothing'
  if (secret === 'made') return 'made'
  return isSession ? 'to_a_fresh_login' : 'nothing'
}

/** Whether a login is one of the last minutes; one whose time the provider does not report never is. A limit of 0 takes any. */
export const isRecentLogin = (loggedInAt: Date | null, at: Date, limitMs: number): boolean =>
  limitMs === 0 || (loggedInAt !== null && at.getTime() - loggedInAt.getTime() < limitMs)
