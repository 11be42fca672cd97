import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { reaisFrom } from '../../reais'
import { useMay } from '../api/use-memberships'
import { useWords } from '../texts/words'
import { CheckedForm, type FieldText } from './checked-form'
import { Dialog, type Opened } from './dialog'
import { Field } from './field'
import type { Rule } from './rules'

export interface InvoiceProps {
  kind: 'orders' | 'subscriptions'
  create(body: object, key: string): Promise<{ id: string }>
  /** The members of the request that only this kind has, and the rules of their fields. */
  own(text: FieldText): object
  rules?: Record<string, readonly Rule[]>
  children: ReactNode
}

/** Whether the form is open is in the address: a link can open it, and going back closes it. */
export function useNewInvoice(): Opened & { open(): void } {
  const [search, setSearch] = useSearchParams()
  return {
    opened: search.has('new'),
    open: () => setSearch({ new: '1' }),
    onClose: () => setSearch({}, { replace: true }),
  }
}

/** The form of an order or a subscription: what both have, around what one of them has. */
export function NewInvoice({ opened, onClose, ...invoice }: InvoiceProps & Opened) {
  const { t } = useWords()
  const may = useMay(invoice.kind === 'orders' ? 'createOrder' : 'createSubscription')
  return (
    <Dialog title={t[invoice.kind].fresh} opened={opened} onClose={onClose}>
      {may ? <InvoiceForm {...invoice} /> : <p role="alert">{t.failures.forbidden}</p>}
    </Dialog>
  )
}

function InvoiceForm({ kind, create, own, rules, children }: InvoiceProps) {
  const { t, language, brl } = useWords()
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  const [typed, setTyped] = useState('')
  // One form is one order, however often its button is pressed.
  const [key] = useState(() => crypto.randomUUID())
  const creation = useMutation({
    mutationFn: (body: object) => create(body, key),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: [kind] })
      navigate(`/${kind}/${id}`)
    },
  })
  const amount = reaisFrom(typed, language)
  const isAmount: Rule = { fault: 'amount', holds: text => reaisFrom(text, language) !== null }
  const submit = (text: FieldText) =>
    creation.mutate({
      brl_amount: reaisFrom(text('brl_amount'), language),
      external_ref: text('external_ref') || null,
      description: text('description') || null,
      ...own(text),
    })
  return (
    <CheckedForm
      rules={{ brl_amount: [isAmount], ...rules }}
      work={creation}
      onSubmit={submit}
      verb={amount === null ? t[kind].create : t.createOf(t[kind].create, brl(amount))}
      fullWidth
    >
      <Field
        name="brl_amount"
        label={t.orders.amount}
        description={t.orders.amountHint}
        inputMode="decimal"
        leftSection="R$"
        required
        withAsterisk={false}
        data-autofocus
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
      />
      <Field name="description" label={t.orders.description} description={t.orders.descriptionHint} maxLength={500} />
      <Field name="external_ref" label={t.orders.reference} maxLength={255} />
      {children}
    </CheckedForm>
  )
}
