import { useQuery, useQueryClient } from '@tanstack/react-query'
import { RequestFailed } from '../../problem'
import { api } from '../api/api'
import { userId } from '../api/session'
import { useMay } from '../api/use-memberships'
import { useWords } from '../texts/words'

const MEMBERS = ['members']
const INVITATIONS = ['invitations']
const KEYS = ['api-keys']

/** Of a user who does not belong to the merchant any more. */
const ID_SHOWN = 8

export const useMembers = () => useQuery({ queryKey: MEMBERS, queryFn: () => api.members().then(({ data }) => data) })
export const useInvitations = () => useQuery({ queryKey: INVITATIONS, queryFn: () => api.invitations().then(({ data }) => data) })
export function useKeys() {
  const enabled = useMay('listApiKeys')
  return useQuery({ queryKey: KEYS, queryFn: () => api.keys().then(({ data }) => data), enabled })
}

/** Called when members, invitations or keys have changed. Each change is one more in the list of changes. */
export function useTeamChanged(): () => void {
  const queries = useQueryClient()
  return () => {
    for (const queryKey of [MEMBERS, INVITATIONS, KEYS, ['audit'], ['waiting-changes']]) void queries.invalidateQueries({ queryKey })
  }
}

/** The role of the user does not reach so far. */
export const isForbidden = (error: Error | null) => error instanceof RequestFailed && error.code === 'forbidden'

/** A user's name for other members. */
export function useNameOf(): (userId: string) => string {
  const { t } = useWords()
  const emails = new Map(useMembers().data?.map(({ user_id, email }) => [user_id, email]))
  return id => {
    if (id === 'ponte') return t.team.ponte
    if (!emails.has(id)) return t.team.gone(id.slice(0, ID_SHOWN))
    return emails.get(id) ?? (id === userId() ? t.team.you : t.team.unknownEmail)
  }
}
