import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { CheckedForm } from '../forms/checked-form'
import { code } from '../forms/rules'
import { useWords } from '../texts/words'

/** Six digits of an authenticator app, which many show in two groups. */
export function CodeForm({ error, onCode, children }: { error: Error | null; onCode(code: string): void; children: ReactNode }) {
  const { t } = useWords()
  return (
    <CheckedForm rules={{ code: [code] }} error={error} onSubmit={text => onCode(text('code').replace(/\s/g, ''))} action={children}>
      {faultOf => (
        <TextInput
          name="code"
          label={t.signIn.code.label}
          inputMode="numeric"
          autoComplete="one-time-code"
          data-autofocus
          autoFocus
          size="md"
          error={faultOf('code')}
        />
      )}
    </CheckedForm>
  )
}
