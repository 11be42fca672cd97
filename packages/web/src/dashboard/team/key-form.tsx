import { Button, Checkbox } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { useHolds } from '../api/use-memberships'
import { CopyValue } from '../elements/copy'
import { CheckedForm } from '../forms/checked-form'
import { Field } from '../forms/field'
import { required } from '../forms/rules'
import { useWords } from '../texts/words'
import { useTeamChanged } from './use-team'

export function KeyForm({ onDone }: { onDone(): void }) {
  const { t } = useWords()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const holds = useHolds()
  // No key may do more than its maker.
  const scopes = (Object.entries(t.team.scopeNames) as [keyof typeof t.team.scopeNames, string][]).filter(([scope]) => holds(scope))
  const make = useMutation({ mutationFn: api.createKey, onSuccess: useTeamChanged() })
  const toggle = (scope: string) => setChosen(chosen.includes(scope) ? chosen.filter(each => each !== scope) : [...chosen, scope])
  if (make.data) {
    return (
      <div role="status">
        <p>{t.team.keyMade}</p>
        <div className="secret">
          <CopyValue value={make.data.api_key} label={make.data.name} />
        </div>
        <Button fullWidth onClick={onDone}>
          {t.close}
        </Button>
      </div>
    )
  }
  return (
    <CheckedForm
      rules={{ name: [required] }}
      work={make}
      onSubmit={text => make.mutate({ name: text('name'), scopes: chosen })}
      verb={t.team.newKey}
      disabled={chosen.length === 0}
      fullWidth
    >
      <Field name="name" label={t.team.keyName} description={t.team.keyNameHint} maxLength={80} data-autofocus />
      <fieldset className="kinds">
        <legend>{t.team.scopes}</legend>
        {scopes.map(([scope, label]) => (
          <Checkbox key={scope} label={label} checked={chosen.includes(scope)} onChange={() => toggle(scope)} />
        ))}
        {chosen.length === 0 && <p className="faint">{t.team.scopesFault}</p>}
      </fieldset>
    </CheckedForm>
  )
}
