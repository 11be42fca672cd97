import { CheckedForm } from '../forms/checked-form'
import { Field } from '../forms/field'
import { code } from '../forms/rules'
import { useWords } from '../texts/words'

interface CodeFormProps {
  work: { error: Error | null; isPending: boolean; mutate(code: string): void }
  verb: string
  /** As on the pages of the login. */
  isLarge?: boolean
}

/** Six digits of an authenticator app, which many show in two groups. */
export function CodeForm({ work, verb, isLarge = false }: CodeFormProps) {
  const { t } = useWords()
  return (
    <CheckedForm
      rules={{ code: [code] }}
      work={work}
      onSubmit={text => work.mutate(text('code').replace(/\s/g, ''))}
      verb={verb}
      {...(isLarge ? { size: 'md', fullWidth: true } : {})}
    >
      <Field name="code" label={t.signIn.code.label} inputMode="numeric" autoComplete="one-time-code" data-autofocus autoFocus size="md" />
    </CheckedForm>
  )
}
