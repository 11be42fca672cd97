import { useMutation } from '@tanstack/react-query'
import type { Factor, Grant } from '../api/identity'
import { identity } from '../api/session'
import { useWords } from '../texts/words'
import { CodeForm } from './code-form'

/** A login whose user has a second factor: it counts once the code was right. */
export function CodeStep({ grant, factor, onProven }: { grant: Grant; factor: Factor; onProven(grant: Grant): unknown }) {
  const { t } = useWords()
  const prove = useMutation({
    mutationFn: async (code: string) => onProven(await (await identity()).proveFactor(grant.access_token, factor.id, code)),
  })
  return (
    <>
      <h1>{t.signIn.code.title}</h1>
      <p className="lead">{t.signIn.code.lead}</p>
      <CodeForm work={prove} verb={t.signIn.code.check} isLarge />
      <p className="faint">{t.signIn.code.lost}</p>
    </>
  )
}
