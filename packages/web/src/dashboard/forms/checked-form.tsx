import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { RequestFailed } from '../../problem'
import { Failure } from '../elements/states'
import type { Texts } from '../texts/pt'
import { useWords } from '../texts/words'
import type { Rule } from './rules'
import './form.css'

/** The trimmed text of a field; a password is as it was typed. */
export type FieldText = (name: string) => string

export interface CheckedFormProps<Name extends string> {
  /** Rules by field, the first that does not hold is shown. A field that the service refuses shows its last one. */
  rules: Record<Name, readonly Rule[]>
  /** Why the service refused what was sent last. */
  error: Error | null
  onSubmit(text: FieldText): void
  children(faultOf: (name: Name) => string | undefined): ReactNode
  /** Its fields are shown, and not changed. */
  isReadOnly?: boolean
  /** Below the fields: the button. */
  action: ReactNode
}

/** A form whose complaints stand at their fields in the reader's language. The browser's own bubbles are in the browser's language. */
export function CheckedForm<Name extends string>({ rules, error, onSubmit, children, isReadOnly, action }: CheckedFormProps<Name>) {
  const { t } = useWords()
  const form = useRef<HTMLFormElement>(null)
  const [found, setFound] = useState<Partial<Record<Name, keyof Texts['faults']>>>({})
  const faults: typeof found = { ...refusedFields(rules, error), ...found }
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus moves when there are new complaints
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [found, error])

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text: FieldText = name => {
      const typed = String(data.get(name) ?? '')
      return name.endsWith('password') ? typed : typed.trim()
    }
    const broken: typeof found = {}
    for (const name in rules) {
      const rule = rules[name].find(each => !each.holds(text(name)))
      if (rule) broken[name] = rule.fault
    }
    setFound(broken)
    if (Object.keys(broken).length === 0) onSubmit(text)
  }
  const faultOf = (name: Name) => {
    const fault = faults[name]
    return fault && t.faults[fault]
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      {isReadOnly ? (
        <fieldset className="read-only" disabled>
          {children(faultOf)}
        </fieldset>
      ) : (
        children(faultOf)
      )}
      {error && Object.keys(refusedFields(rules, error)).length === 0 && <Failure error={error} />}
      {action}
    </form>
  )
}

/** The fields of this form that the service named; none when it named another one as well. */
function refusedFields<Name extends string>(rules: Record<Name, readonly Rule[]>, error: Error | null) {
  const faults: Partial<Record<Name, keyof Texts['faults']>> = {}
  if (!(error instanceof RequestFailed)) return faults
  for (const { path } of error.errors) {
    const [name] = Object.keys(rules).filter((field): field is Name => field === path)
    const rule = name && rules[name].at(-1)
    if (!rule) return {}
    faults[name] = rule.fault
  }
  return faults
}
