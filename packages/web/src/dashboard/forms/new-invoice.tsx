import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { Failure } from '../elements'
import { useWords } from '../texts'
import { Dialog, type Opened } from './dialog'

type Text = (name: string) => string

export interface InvoiceProps {
  kind: 'orders' | 'subscriptions'
  create(body: object, key: string): Promise<{ id: string }>
  /** The members of the request that only this kind has. */
  own(text: Text): object
  /** Their fields. */
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

/** Reais as people write them, `1.500,50` or `1500.50`, to the wire's form. */
function brlFrom(text: string): string {
  const plain = text.replace(/[R$\s]/g, '')
  return /,\d{1,2}$/.test(plain) ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', '')
}

/** The form of an order or a subscription: what both have, around what one of them has. */
export function NewInvoice({ opened, onClose, ...invoice }: InvoiceProps & Opened) {
  const { t } = useWords()
  return (
    <Dialog title={t[invoice.kind].fresh} opened={opened} onClose={onClose}>
      <InvoiceForm {...invoice} />
    </Dialog>
  )
}

function InvoiceForm({ kind, create, own, children }: InvoiceProps) {
  const { t } = useWords()
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  // One form is one order, however often its button is pressed.
  const [key] = useState(() => crypto.randomUUID())
  const creation = useMutation({
    mutationFn: (body: object) => create(body, key),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: [kind] })
      navigate(`/${kind}/${id}`)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text: Text = name => String(form.get(name)).trim()
    creation.mutate({
      brl_amount: brlFrom(text('brl_amount')),
      external_ref: text('external_ref') || null,
      description: text('description') || null,
      ...own(text),
    })
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        name="brl_amount"
        label={t.orders.amount}
        description={t.orders.amountHint}
        inputMode="decimal"
        leftSection="R$"
        autoComplete="off"
        required
        withAsterisk={false}
        data-autofocus
      />
      {children}
      <TextInput
        name="description"
        label={t.orders.description}
        description={t.orders.descriptionHint}
        maxLength={500}
        autoComplete="off"
      />
      <TextInput name="external_ref" label={t.orders.reference} maxLength={255} autoComplete="off" />
      {creation.error && <Failure error={creation.error} />}
      <Button type="submit" loading={creation.isPending} fullWidth>
        {t[kind].create}
      </Button>
    </form>
  )
}
