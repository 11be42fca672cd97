import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { LoginFailed, logIn, signUp } from '../api'
import { CheckedForm, email, type FieldText, password, required } from '../forms'
import { useWords } from '../texts'
import { Door } from './door'

export function SignIn() {
  const { t } = useWords()
  const [isNew, setNew] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<LoginFailed | null>(null)
  const title = isNew ? t.signIn.signUpTitle : t.signIn.title
  useEffect(() => {
    document.title = `${title} · Ponte`
  }, [title])

  const submit = async (text: FieldText) => {
    const credentials = { email: text('email'), password: text('password') }
    setBusy(true)
    setFailed(null)
    try {
      await (isNew ? signUp(credentials) : logIn(credentials))
    } catch (error) {
      setFailed(error instanceof LoginFailed ? error : new LoginFailed('refused', String(error)))
      setBusy(false)
    }
  }
  return (
    <Door>
      <h1>{title}</h1>
      <p className="lead">{t.signIn.lead}</p>
      <CheckedForm
        // Complaints about a login are none about a new account.
        key={String(isNew)}
        rules={{ email: [required, email], password: isNew ? [required, password] : [required] }}
        error={null}
        onSubmit={text => void submit(text)}
        action={
          <>
            {failed && (
              <div className="failure" role="alert">
                <p>{t.signIn.faults[failed.fault]}</p>
              </div>
            )}
            <Button type="submit" size="md" fullWidth loading={busy}>
              {isNew ? t.signIn.create : t.signIn.enter}
            </Button>
          </>
        }
      >
        {faultOf => (
          <>
            <TextInput
              name="email"
              type="email"
              label={t.signIn.email}
              autoComplete="username"
              required
              withAsterisk={false}
              size="md"
              error={faultOf('email')}
            />
            <PasswordInput
              name="password"
              label={t.signIn.password}
              description={isNew ? t.signIn.passwordHint : undefined}
              autoComplete={isNew ? 'new-password' : 'current-password'}
              required
              withAsterisk={false}
              size="md"
              error={faultOf('password')}
            />
          </>
        )}
      </CheckedForm>
      <button
        type="button"
        className="plain"
        onClick={() => {
          setNew(!isNew)
          setFailed(null)
        }}
      >
        {isNew ? t.signIn.toSignIn : t.signIn.toSignUp}
      </button>
    </Door>
  )
}
