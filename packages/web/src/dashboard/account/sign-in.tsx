import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remember } from '../../memory'
import { type Factor, factorToProve, type Grant, LoginFailed } from '../api/identity'
import { adopt, identity } from '../api/session'
import { Failure } from '../elements/states'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { Field, SecretField } from '../forms/field'
import { email, password, type Rule, required } from '../forms/rules'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { CodeStep } from './code-step'
import { Door } from './door'
import { INVITATION, LINK_PAGE } from './link-page'
import { Sent } from './sent'

export type Mode = 'in' | 'new' | 'forgotten'
type View =
  | { kind: 'form'; mode: Mode }
  | { kind: 'sent'; type: 'signup' | 'recovery'; email: string }
  | { kind: 'code'; grant: Grant; factor: Factor }

/** An invited person may have no account yet; where it is confirmed by mail, the invitation waits in this browser. */
export function SignIn({ start = 'in', invitation }: { start?: Mode; invitation: string | null }) {
  const [view, setView] = useState<View>({ kind: 'form', mode: start })
  const toForm = () => setView({ kind: 'form', mode: 'in' })
  if (view.kind === 'sent') return <Sent type={view.type} email={view.email} onBack={toForm} />
  if (view.kind === 'code') {
    return (
      <Door>
        <CodeStep grant={view.grant} factor={view.factor} onProven={adopt} />
      </Door>
    )
  }
  return <Form key={view.mode} mode={view.mode} invitation={invitation} onView={setView} />
}

/** A user whose factors are all of other kinds enters without: sees everything, cancels what waits, and changes nothing of the account. */
function provenHere({ user }: Grant): Factor | null {
  try {
    return factorToProve(user)
  } catch {
    return null
  }
}

const passwordRules: Record<Mode, readonly Rule[]> = { in: [required], new: [required, password], forgotten: [] }

function Form({ mode, invitation, onView }: { mode: Mode; invitation: string | null; onView(view: View): void }) {
  const { t } = useWords()
  const [typed, setTyped] = useState('')
  const work = useMutation({ mutationFn: (does: () => Promise<void>) => does() })
  const titles = { in: t.signIn.title, new: t.signIn.signUpTitle, forgotten: t.signIn.forgotten.title }
  const verbs = { in: t.signIn.enter, new: t.signIn.create, forgotten: t.signIn.forgotten.send }
  const title = titles[mode]
  usePageTitle(title)

  const sendLink = async (type: 'signup' | 'recovery', to: string) => {
    await (await identity()).sendLink(type, to, LINK_PAGE)
    onView({ kind: 'sent', type, email: to })
  }
  const enter = async (text: FieldText) => {
    const credentials = { email: text('email'), password: text('password') }
    const client = await identity()
    const grant = mode === 'in' ? await client.logIn(credentials) : await client.signUp(credentials, LINK_PAGE)
    if (grant === null) {
      if (invitation) remember(INVITATION, invitation)
      return onView({ kind: 'sent', type: 'signup', email: credentials.email })
    }
    const factor = provenHere(grant)
    if (factor) onView({ kind: 'code', grant, factor })
    else await adopt(grant)
  }
  const isUnconfirmed = work.error instanceof LoginFailed && work.error.fault === 'email_not_confirmed'
  return (
    <Door>
      <h1>{title}</h1>
      <p className="lead">{mode === 'forgotten' ? t.signIn.forgotten.lead : invitation ? t.signIn.invited : t.signIn.lead}</p>
      <CheckedForm
        rules={{ email: [required, email], password: passwordRules[mode] }}
        work={{ error: null, isPending: work.isPending }}
        onSubmit={text => work.mutate(() => (mode === 'forgotten' ? sendLink('recovery', text('email')) : enter(text)))}
        verb={verbs[mode]}
        size="md"
        fullWidth
      >
        <Field
          name="email"
          type="email"
          label={t.signIn.email}
          autoComplete="username"
          required
          withAsterisk={false}
          size="md"
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        {mode !== 'forgotten' && (
          <SecretField
            name="password"
            label={t.signIn.password}
            description={mode === 'new' ? t.signIn.passwordHint : undefined}
            autoComplete={mode === 'new' ? 'new-password' : 'current-password'}
            required
            withAsterisk={false}
            size="md"
          />
        )}

        {work.error && <Failure error={work.error} />}
        {isUnconfirmed && (
          <Button variant="default" fullWidth onClick={() => work.mutate(() => sendLink('signup', typed))}>
            {t.signIn.sent.again}
          </Button>
        )}
      </CheckedForm>
      <div className="door-ways">
        {mode === 'in' ? (
          <>
            <button type="button" className="plain" onClick={() => onView({ kind: 'form', mode: 'new' })}>
              {t.signIn.toSignUp}
            </button>
            <button type="button" className="plain" onClick={() => onView({ kind: 'form', mode: 'forgotten' })}>
              {t.signIn.toForgotten}
            </button>
          </>
        ) : (
          <button type="button" className="plain" onClick={() => onView({ kind: 'form', mode: 'in' })}>
            {t.signIn.toSignIn}
          </button>
        )}
      </div>
    </Door>
  )
}
