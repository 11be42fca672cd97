import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/api'
import { CopyValue } from '../elements/copy'
import { CheckedForm } from '../forms/checked-form'
import { Field } from '../forms/field'
import { email, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { linkOf } from './join-page'
import { RoleField } from './role-dialog'
import { useTeamChanged } from './use-team'

export function InviteForm({ onDone }: { onDone(): void }) {
  const { t } = useWords()
  const invite = useMutation({ mutationFn: api.invite, onSuccess: useTeamChanged() })
  if (invite.data) {
    return (
      <div role="status">
        <p>{t.team.invitedText}</p>
        <div className="secret">
          <CopyValue value={linkOf(invite.data.token)} label={t.team.link} />
        </div>
        <Button fullWidth onClick={onDone}>
          {t.close}
        </Button>
      </div>
    )
  }
  return (
    <CheckedForm
      rules={{ email: [required, email] }}
      work={invite}
      onSubmit={text => invite.mutate({ email: text('email'), role: text('role') })}
      verb={t.team.invite}
      fullWidth
    >
      <Field name="email" type="email" label={t.team.email} description={t.team.emailHint} maxLength={254} data-autofocus />
      <RoleField current="viewer" />
    </CheckedForm>
  )
}
