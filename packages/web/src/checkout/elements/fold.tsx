import type { CheckoutBody } from '@ponte/contracts'
import { type FunctionComponent, useState } from 'react'

export type Folded = FunctionComponent<{ checkout: CheckoutBody }>

interface FoldProps {
  summary: string
  part: 'QuotedForm' | 'ExchangeSteps'
  checkout: CheckoutBody
}

/** A part of the page that comes when it is opened: few payers need it, and none waits for it. */
export function Fold({ summary, part, checkout }: FoldProps) {
  const [Part, setPart] = useState<Folded | null>(null)
  const load = () =>
    void import('../parts').then(
      parts => setPart(() => parts[part]),
      // Without a connection it is loaded when it is opened again.
      () => undefined,
    )
  return (
    <details className="safety no-print" onToggle={event => event.currentTarget.open && !Part && load()}>
      <summary>{summary}</summary>
      {Part && <Part checkout={checkout} />}
    </details>
  )
}
