import { Button, PasswordInput, TextInput } from '@mantine/core'
import { CheckedForm } from '../forms/checked-form'
import { password, required } from '../forms/rules'
import { useWords } from '../texts/words'

interface NewPasswordProps {
  /** Shown, because a mailed link may be of an account that its reader did not expect. */
  email: string
  busy: boolean
  error: Error | null
  onPassword(password: string): void
}

export function NewPassword({ email, busy, error, onPassword }: NewPasswordProps) {
  const { t } = useWords()
  return (
    <CheckedForm
      rules={{ password: [required, password] }}
      error={error}
      onSubmit={text => onPassword(text('password'))}
      action={
        <Button type="submit" size="md" fullWidth loading={busy}>
          {t.signIn.link.save}
        </Button>
      }
    >
      {faultOf => (
        <>
          <TextInput label={t.signIn.link.account} value={email} readOnly autoComplete="username" size="md" />
          <PasswordInput
            name="password"
            label={t.signIn.link.fresh}
            description={t.signIn.passwordHint}
            autoComplete="new-password"
            autoFocus
            size="md"
            error={faultOf('password')}
          />
        </>
      )}
    </CheckedForm>
  )
}
