import { Button, PasswordInput, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { LoginFailed, logIn, signUp } from '../api'
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

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const credentials = { email: String(form.get('email')), password: String(form.get('password')) }
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
      <form onSubmit={event => void submit(event)}>
        <TextInput name="email" type="email" label={t.signIn.email} autoComplete="username" required withAsterisk={false} size="md" />
        <PasswordInput
          name="password"
          label={t.signIn.password}
          description={isNew ? t.signIn.passwordHint : undefined}
          autoComplete={isNew ? 'new-password' : 'current-password'}
          minLength={isNew ? 8 : 1}
          required
          withAsterisk={false}
          size="md"
        />
        {failed && (
          <div className="failure" role="alert">
            <p>{t.signIn.faults[failed.fault]}</p>
            {failed.fault === 'refused' && failed.message && <p className="faint">{failed.message}</p>}
          </div>
        )}
        <Button type="submit" size="md" fullWidth loading={busy}>
          {isNew ? t.signIn.create : t.signIn.enter}
        </Button>
      </form>
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
