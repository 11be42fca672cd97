import { type FunctionComponent, useState } from 'react'
import { useWords } from '../texts/words'

/** For a payer whose payment is not shown. The form comes when it is opened: few payers need it, and none waits for it. */
export function QuotedTransaction({ orderId }: { orderId: string }) {
  const { t } = useWords()
  const [Form, setForm] = useState<FunctionComponent<{ orderId: string }> | null>(null)
  const load = () =>
    void import('./quoted-form').then(
      ({ QuotedForm }) => setForm(() => QuotedForm),
      // Without a connection it is loaded when it is opened again.
      () => undefined,
    )
  return (
    <details className="safety quoted no-print" onToggle={event => event.currentTarget.open && !Form && load()}>
      <summary>{t.quoted}</summary>
      {Form && <Form orderId={orderId} />}
    </details>
  )
}
