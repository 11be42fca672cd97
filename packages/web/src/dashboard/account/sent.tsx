import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { identity } from '../api/session'
import { Failure } from '../elements/states'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { Door } from './door'
import { LINK_PAGE } from './link-page'

/** After a mail was asked for. It reads alike whether there is an account or not. */
export function Sent({ type, email, onBack }: { type: 'signup' | 'recovery'; email: string; onBack(): void }) {
  const { t } = useWords()
  usePageTitle(t.signIn.sent.title)
  const again = useMutation({ mutationFn: async () => (await identity()).sendLink(type, email, LINK_PAGE) })
  return (
    <Door>
      <h1>{t.signIn.sent.title}</h1>
      <p className="lead" role="status">
        {t.signIn.sent[type](email)}
      </p>
      <p className="faint">{t.signIn.sent.wait}</p>
      {again.error && <Failure error={again.error} />}
      <div role="status">{again.isSuccess && <p className="done">{t.signIn.sent.done}</p>}</div>
      <div className="door-ways">
        <Button variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          {t.signIn.sent.again}
        </Button>
        <button type="button" className="plain" onClick={onBack}>
          {t.signIn.toSignIn}
        </button>
      </div>
    </Door>
  )
}
