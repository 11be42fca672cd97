import { TextInput } from '@mantine/core'
import { CheckedForm } from '../forms/checked-form'
import { SecretField } from '../forms/field'
import { password, required } from '../forms/rules'
import { useWords } from '../texts/words'

interface NewPasswordProps {
  /** Shown, because a mailed link may be of an account that its reader did not expect. */
  email: string
  work: { error: Error | null; isPending: boolean }
  onPassword(password: string): void
}

export function NewPassword({ email, work, onPassword }: NewPasswordProps) {
  const { t } = useWords()
  return (
    <CheckedForm
      rules={{ password: [required, password] }}
      work={work}
      onSubmit={text => onPassword(text('password'))}
      verb={t.signIn.link.save}
      size="md"
      fullWidth
    >
      <TextInput label={t.signIn.link.account} value={email} readOnly autoComplete="username" size="md" />
      <SecretField
        name="password"
        label={t.signIn.link.fresh}
        description={t.signIn.passwordHint}
        autoComplete="new-password"
        autoFocus
        size="md"
      />
    </CheckedForm>
  )
}
