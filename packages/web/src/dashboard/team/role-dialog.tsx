import type { MemberBody, Role } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { CheckedForm } from '../forms/checked-form'
import { Dialog } from '../forms/dialog'
import { ChoiceField } from '../forms/field'
import { useWords } from '../texts/words'
import { KeysMade } from './keys-made'
import { useTeamChanged } from './use-team'

/** Roles with what each may do. */
export function RoleField({ current }: { current: Role }) {
  const { t } = useWords()
  const roles = Object.entries(t.team.roles) as [Role, string][]
  return (
    <ChoiceField
      name="role"
      label={t.team.role}
      defaultValue={current}
      data={roles.map(([value, label]) => ({ value, label: `${label}: ${t.team.roleHint[value]}` }))}
    />
  )
}

export function RoleDialog({ member, onClose }: { member: MemberBody | null; onClose(): void }) {
  const { t } = useWords()
  return (
    <Dialog title={t.team.changeRole} opened={member !== null} onClose={onClose}>
      {member && <RoleForm member={member} onDone={onClose} />}
    </Dialog>
  )
}

function RoleForm({ member, onDone }: { member: MemberBody; onDone(): void }) {
  const { t } = useWords()
  const changed = useTeamChanged()
  const [keepsKeys, setKeepsKeys] = useState(false)
  const update = useMutation({
    mutationFn: (role: string) => api.updateMember(member.id, { role }, keepsKeys),
    onSuccess: () => {
      changed()
      onDone()
    },
  })
  return (
    <CheckedForm rules={{}} work={update} onSubmit={text => update.mutate(text('role'))} verb={t.save} fullWidth>
      <p>{member.email ?? t.team.unknownEmail}</p>
      <RoleField current={member.role} />
      <KeysMade member={member} text={t.team.roleTakesKeys} keeps={keepsKeys} onChoose={setKeepsKeys} />
    </CheckedForm>
  )
}
