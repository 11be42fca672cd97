import { Button } from '@mantine/core'
import type { InvitationBody, MemberBody } from '@ponte/contracts'
import { useState } from 'react'
import { api } from '../api/api'
import { userId } from '../api/session'
import { Allowed } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Failure, Loading } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { useWords } from '../texts/words'
import { KeysMade } from './keys-made'
import { RoleDialog } from './role-dialog'
import { useInvitations, useMembers, useTeamChanged } from './use-team'

export function MembersCard() {
  const { t, moment } = useWords()
  const { data, error, refetch } = useMembers()
  const [changing, setChanging] = useState<MemberBody | null>(null)
  const nameOf = ({ email, user_id }: MemberBody) =>
    email ?? (user_id === userId() ? `${t.team.unknownEmail} (${t.team.you})` : t.team.unknownEmail)
  return (
    <Card title={t.team.members} className="team">
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      <table className="list">
        <tbody>
          {data?.map(member => (
            <tr key={member.id}>
              <td>
                <strong>{nameOf(member)}</strong>
                <span className="faint">{t.team.since(moment(member.created_at))}</span>
              </td>
              <td>
                <Badge tone={member.role === 'owner' ? 'good' : 'calm'}>{t.team.roles[member.role]}</Badge>
              </td>
              <td>
                <div className="buttons">
                  <Allowed to="updateMember">
                    <Button variant="default" onClick={() => setChanging(member)}>
                      {t.team.changeRole}
                    </Button>
                    <Remove member={member} name={nameOf(member)} />
                  </Allowed>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <RoleDialog member={changing} onClose={() => setChanging(null)} />
    </Card>
  )
}

function Remove({ member, name }: { member: MemberBody; name: string }) {
  const { t } = useWords()
  const changed = useTeamChanged()
  const [keepsKeys, setKeepsKeys] = useState(false)
  return (
    <Confirmed
      action={t.team.remove}
      question={t.team.removeSure(name)}
      work={() => api.removeMember(member.id, keepsKeys)}
      onDone={changed}
    >
      <KeysMade member={member} text={t.team.removesKeys} keeps={keepsKeys} onChoose={setKeepsKeys} />
    </Confirmed>
  )
}

const isOpen = ({ accepted_at, revoked_at, expires_at }: InvitationBody) =>
  accepted_at === null && revoked_at === null && Date.parse(expires_at) > Date.now()

export function InvitationsCard() {
  const { t, moment } = useWords()
  const changed = useTeamChanged()
  const open = useInvitations().data?.filter(isOpen) ?? []
  if (open.length === 0) return null
  return (
    <Card title={t.team.open} className="team">
      <table className="list">
        <tbody>
          {open.map(({ id, email, role, expires_at }) => (
            <tr key={id}>
              <td>
                <strong>{email}</strong>
                <span className="faint">{t.team.until(moment(expires_at))}</span>
              </td>
              <td>
                <Badge tone="wait">{t.team.roles[role]}</Badge>
              </td>
              <td>
                <div className="buttons">
                  <Allowed to="revokeInvitation">
                    <Confirmed
                      action={t.team.revoke}
                      question={t.team.revokeInvitationSure(email)}
                      work={() => api.revokeInvitation(id)}
                      onDone={changed}
                    />
                  </Allowed>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
