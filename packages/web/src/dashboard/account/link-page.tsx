import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api } from '../api/api'
import { claimIn, type Factor, factorToProve, type Grant, LoginFailed } from '../api/identity'
import type { MailedLink } from '../api/mailed-link'
import { adopt, identity } from '../api/session'
import { Failure } from '../elements/states'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { CodeStep } from './code-step'
import { Door } from './door'
import { NewPassword } from './new-password'

/** Where links in mails lead. */
export const LINK_PAGE = `${window.location.origin}/dashboard/link`
/** Key of the invitation while a new account is confirmed by mail. */
export const INVITATION = 'ponte.invitation'

type Step = { kind: 'begin' } | { kind: 'code'; grant: Grant; factor: Factor } | { kind: 'password'; grant: Grant } | { kind: 'over' }

/**
 * A link from a mail is used by a click, not by being opened: programs that look into mails open links too. Then a password is chosen, after a sign-up as well:
 * the provider keeps that of the first sign-up with this address, perhaps a stranger's.
 */
export function LinkPage({ link, onDone, onAnother }: { link: MailedLink; onDone(): void; onAnother(): void }) {
  const { t } = useWords()
  const [step, setStep] = useState<Step>({ kind: link.kind === 'refused' ? 'over' : 'begin' })
  const type = link.kind === 'refused' ? 'recovery' : link.type
  usePageTitle(t.signIn.link.title[type])
  const begin = useMutation({
    mutationFn: async () => {
      if (link.kind === 'refused') return
      const client = await identity()
      const grant = link.kind === 'proof' ? await client.proveLink(link.type, link.tokenHash) : link.grant
      const factor = factorToProve(grant.user ?? (await client.userOf(grant.access_token)))
      setStep(factor ? { kind: 'code', grant, factor } : { kind: 'password', grant })
    },
    onError: error => {
      if (error instanceof LoginFailed && error.fault === 'link_over') setStep({ kind: 'over' })
    },
  })
  const save = useMutation({
    mutationFn: async ({ grant, password }: { grant: Grant; password: string }) => {
      const client = await identity()
      await client.setPassword(grant.access_token, password).catch(error => {
        // The account's own password typed again proves its owner.
        if (!(error instanceof LoginFailed && error.fault === 'same_password')) throw error
      })
      await client.endOthers(grant.access_token)
      await adopt(grant)
      // The provider has ended them; this ends their last tokens too.
      await api.endOtherSessions().catch(() => undefined)
      onDone()
    },
  })
  const steps: Record<Step['kind'], () => ReactNode> = {
    begin: () => (
      <>
        <h1>{t.signIn.link.title[type]}</h1>
        <p className="lead">{t.signIn.link.lead[type]}</p>
        {begin.error && <Failure error={begin.error} />}
        <Button size="md" fullWidth loading={begin.isPending} onClick={() => begin.mutate()}>
          {t.signIn.link.goOn}
        </Button>
      </>
    ),
    code: () =>
      step.kind === 'code' && <CodeStep grant={step.grant} factor={step.factor} onProven={grant => setStep({ kind: 'password', grant })} />,
    password: () =>
      step.kind === 'password' && (
        <>
          <h1>{t.signIn.link.title[type]}</h1>
          <NewPassword
            email={claimIn(step.grant.access_token, 'email') ?? ''}
            work={save}
            onPassword={password => save.mutate({ grant: step.grant, password })}
          />
        </>
      ),
    over: () => (
      <>
        <h1>{t.signIn.link.overTitle}</h1>
        <p className="lead" role="alert">
          {t.signIn.link.over}
        </p>
        <Button size="md" fullWidth onClick={onAnother}>
          {t.signIn.link.another}
        </Button>
        <div className="door-ways">
          <button type="button" className="plain" onClick={onDone}>
            {t.signIn.toSignIn}
          </button>
        </div>
      </>
    ),
  }
  return <Door>{steps[step.kind]()}</Door>
}
