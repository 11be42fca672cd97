import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { type Factor, factorToProve, type Grant, LoginFailed } from '../api/identity'
import { adopt, identity, userEmail } from '../api/session'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import { SecretField } from '../forms/field'
import { password, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { CodeStep } from './code-step'

interface Change {
  current: string
  fresh: string
}

/**
 * The old password logs in anew, and that session sets the new one: whatever the provider asks for before a change (a login of the last hours, the old password, the second
 * factor), it has. The provider ends all other sessions, the one of before included.
 */
export function PasswordCard() {
  const { t } = useWords()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<{ grant: Grant; factor: Factor; change: Change } | null>(null)
  const [isDone, setDone] = useState(false)
  const finish = async (grant: Grant, { current, fresh }: Change) => {
    await (await identity()).setPassword(grant.access_token, fresh, current)
    await adopt(grant)
    // The provider has ended the others; this ends their last tokens too.
    await api.endOtherSessions().catch(() => undefined)
    void queries.invalidateQueries({ queryKey: ['sessions'] })
    setAsked(null)
    setDone(true)
  }
  const begin = useMutation({
    mutationFn: async (change: Change) => {
      setDone(false)
      const credentials = { email: userEmail() ?? '', password: change.current }
      const grant = await (await identity()).logIn(credentials).catch(error => {
        throw error instanceof LoginFailed && error.fault === 'invalid_credentials' ? new LoginFailed('wrong_password') : error
      })
      const factor = factorToProve(grant.user)
      if (factor) setAsked({ grant, factor, change })
      else await finish(grant, change)
    },
  })
  return (
    <Card title={t.signIn.own.passwordTitle}>
      {asked ? (
        <CodeStep grant={asked.grant} factor={asked.factor} onProven={grant => finish(grant, asked.change)} />
      ) : (
        <CheckedForm
          // A new key clears the fields once it is changed.
          key={String(isDone)}
          rules={{ current_password: [required], new_password: [required, password] }}
          work={begin}
          onSubmit={text => begin.mutate({ current: text('current_password'), fresh: text('new_password') })}
          verb={t.signIn.own.change}
        >
          <SecretField name="current_password" label={t.signIn.own.current} autoComplete="current-password" />
          <SecretField name="new_password" label={t.signIn.own.fresh} description={t.signIn.passwordHint} autoComplete="new-password" />
        </CheckedForm>
      )}
      <div role="status">{isDone && <p className="done">{t.signIn.own.changed}</p>}</div>
      <p className="faint after">{t.signIn.own.forgot}</p>
    </Card>
  )
}
