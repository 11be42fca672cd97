import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Door } from '../account/door'
import { api } from '../api/api'
import { logOut } from '../api/session'
import { Failure } from '../elements/states'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { isForbidden } from './use-team'

const PATH = '/dashboard/join'

/** The token stands behind the #, which no server and no log sees. */
export const linkOf = (token: string) => `${window.location.origin}${PATH}#${token}`

/** The token of the invitation that this page was opened by; null on any other page. */
export const invitationIn = ({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): string | null =>
  pathname === PATH ? hash.slice(1) : null

/** A user who is logged in takes an invitation. */
export function JoinPage({ token, onJoined }: { token: string; onJoined(merchantId: string): void }) {
  const { t } = useWords()
  usePageTitle(t.team.join.title)
  const queries = useQueryClient()
  const accept = useMutation({
    mutationFn: () => api.acceptInvitation(token),
    onSuccess: ({ merchant_id }) => {
      queries.clear()
      onJoined(merchant_id)
    },
  })
  const isToken = /^inv_[0-9a-f]{64}$/.test(token)
  return (
    <Door>
      <h1>{t.team.join.title}</h1>
      <p className="lead">{isToken ? t.team.join.lead : t.team.join.bad}</p>
      {accept.error && (isForbidden(accept.error) ? <p className="warning">{t.team.join.other}</p> : <Failure error={accept.error} />)}
      <Button size="md" fullWidth disabled={!isToken} loading={accept.isPending} onClick={() => accept.mutate()}>
        {t.team.join.accept}
      </Button>
      <button type="button" className="plain" onClick={() => void logOut()}>
        {t.logOut}
      </button>
    </Door>
  )
}
