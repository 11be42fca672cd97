import { NativeSelect, Switch, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { endOfDueDay } from '../../due-day'
import { reaisFrom } from '../../reais'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { Dialog, type Opened } from '../forms/dialog'
import { periods, type Rule, required, returnUrl } from '../forms/rules'
import { CUSTOMER_RULES, CustomerFields, customerIn } from '../invoicing/customer-card'
import { useWords } from '../texts/words'

/** The form of a payment link. */
export function NewLink({ opened, onClose }: Opened) {
  const { t } = useWords()
  const may = useMay('createLink')
  return (
    <Dialog title={t.links.fresh} opened={opened} onClose={onClose}>
      {may ? <LinkForm onClose={onClose} /> : <p role="alert">{t.failures.forbidden}</p>}
    </Dialog>
  )
}

function LinkForm({ onClose }: Pick<Opened, 'onClose'>) {
  const { t, language } = useWords()
  const queries = useQueryClient()
  const [kind, setKind] = useState<'invoice' | 'reusable'>('invoice')
  const [isChosen, setChosen] = useState(false)
  // One form is one link, however often its button is pressed.
  const [key] = useState(() => crypto.randomUUID())
  const creation = useMutation({
    mutationFn: (body: object) => api.createLink(body, key),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['links'] })
      onClose()
    },
  })
  const isAmount: Rule = { fault: 'amount', holds: text => reaisFrom(text, language) !== null }
  const amounts = isChosen ? ['brl_amount_min', 'brl_amount_max'] : ['brl_amount']
  const submit = (text: FieldText) => {
    const due = text('due_at')
    creation.mutate({
      kind,
      ...Object.fromEntries(amounts.map(name => [name, reaisFrom(text(name), language)])),
      description: text('description'),
      external_ref: text('external_ref') || null,
      success_url: text('success_url') || null,
      ...(due ? { due_at: endOfDueDay(due) } : {}),
      ...(kind === 'invoice' ? { customer: customerIn(text) } : {}),
      ...(text('max_payments') ? { max_payments: Number(text('max_payments')) } : {}),
    })
  }
  return (
    <CheckedForm
      key={`${kind} ${isChosen}`}
      rules={{
        ...Object.fromEntries(amounts.map(name => [name, [isAmount]])),
        description: [required],
        max_payments: [periods],
        success_url: [returnUrl],
        ...CUSTOMER_RULES,
      }}
      work={creation}
      onSubmit={submit}
      verb={t.links.create}
      fullWidth
    >
      {(faultOf: (name: string) => string | undefined) => (
        <>
          <NativeSelect
            label={t.links.kind}
            value={kind}
            onChange={event => setKind(event.currentTarget.value === 'reusable' ? 'reusable' : 'invoice')}
            data={[
              { value: 'invoice', label: t.links.kinds.invoice },
              { value: 'reusable', label: t.links.kinds.reusable },
            ]}
          />
          <Switch label={t.links.chosen} checked={isChosen} onChange={event => setChosen(event.currentTarget.checked)} my="sm" />
          {amounts.map(name => (
            <TextInput
              key={name}
              name={name}
              label={{ brl_amount_min: t.links.least, brl_amount_max: t.links.most }[name] ?? t.orders.amount}
              description={name === 'brl_amount' ? t.links.quoted : undefined}
              inputMode="decimal"
              leftSection="R$"
              autoComplete="off"
              error={faultOf(name)}
            />
          ))}
          <TextInput
            name="description"
            label={t.orders.description}
            description={t.orders.descriptionHint}
            maxLength={500}
            autoComplete="off"
            error={faultOf('description')}
          />
          <TextInput name="external_ref" label={t.orders.reference} maxLength={255} autoComplete="off" />
          {kind === 'invoice' ? (
            <>
              <TextInput type="date" name="due_at" label={t.links.due} />
              <details open={Object.keys(CUSTOMER_RULES).some(name => faultOf(name) !== undefined) || undefined}>
                <summary>{t.links.customer}</summary>
                <CustomerFields />
              </details>
            </>
          ) : (
            <TextInput
              name="max_payments"
              label={t.links.maxPayments}
              inputMode="numeric"
              autoComplete="off"
              error={faultOf('max_payments')}
            />
          )}
          <TextInput
            name="success_url"
            type="url"
            label={t.orders.successUrl}
            description={t.orders.successUrlHint}
            placeholder="https://"
            maxLength={2048}
            autoComplete="off"
            error={faultOf('success_url')}
          />
        </>
      )}
    </CheckedForm>
  )
}
