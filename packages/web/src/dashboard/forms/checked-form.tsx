import { Button, type ButtonProps } from '@mantine/core'
import { type AriaAttributes, type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { RequestFailed } from '../../problem'
import { Failure } from '../elements/states'
import type { Texts } from '../texts/pt'
import { useWords } from '../texts/words'
import { FaultContext } from './field'
import type { Rule } from './rules'
import './form.css'

/** The trimmed text of a field; a password is as it was typed. */
export type FieldText = (name: string) => string

type SubmitProps = Pick<ButtonProps, 'color' | 'disabled' | 'fullWidth' | 'size' | 'variant'> & Pick<AriaAttributes, 'aria-keyshortcuts'>

interface CheckedFormProps<Name extends string> extends SubmitProps {
  /** Rules by field, the first that does not hold is shown. A field that the service refuses shows its last one. */
  rules: Record<Name, readonly Rule[]>
  /** Why the service refused what was sent last, and whether its answer is awaited. */
  work: { error: Error | null; isPending: boolean }
  onSubmit(text: FieldText): void
  children: ReactNode | ((faultOf: (name: Name) => string | undefined) => ReactNode)
  /** Its fields are shown, and not changed. */
  isReadOnly?: boolean
  /** On the button. */
  verb: string
  onCancel?(): void
}

/** A form whose complaints stand at their fields in the reader's language. The browser's own bubbles are in the browser's language. */
export function CheckedForm<Name extends string>(of: CheckedFormProps<Name>) {
  const { rules, work, onSubmit, children, isReadOnly, verb, onCancel, ...submitProps } = of
  const { error, isPending } = work
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
  const fields = typeof children === 'function' ? children(faultOf) : children
  const button = (
    <Button type="submit" loading={isPending} {...submitProps}>
      {verb}
    </Button>
  )
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <FaultContext value={faultOf as (name: string) => string | undefined}>
        {isReadOnly ? (
          <fieldset className="read-only" disabled>
            {fields}
          </fieldset>
        ) : (
          fields
        )}
      </FaultContext>
      {error && Object.keys(refusedFields(rules, error)).length === 0 && <Failure error={error} />}
      {onCancel ? (
        <div className="buttons">
          <Button variant="default" onClick={onCancel}>
            {t.cancel}
          </Button>
          {button}
        </div>
      ) : (
        !isReadOnly && button
      )}
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
