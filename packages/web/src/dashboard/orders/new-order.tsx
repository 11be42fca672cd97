import { api } from '../api/api'
import type { Opened } from '../forms/dialog'
import { ChoiceField, Field } from '../forms/field'
import { NewInvoice } from '../forms/new-invoice'
import { returnUrl } from '../forms/rules'
import { useWords } from '../texts/words'

const MINUTES = [15, 30]
const HOURS = [1, 24, 72]

export function NewOrder(form: Opened) {
  const { t } = useWords()
  return (
    <NewInvoice
      kind="orders"
      create={api.createOrder}
      own={text => ({
        expires_in: Number(text('expires_in')),
        success_url: text('success_url') || null,
        cancel_url: text('cancel_url') || null,
      })}
      rules={{ success_url: [returnUrl], cancel_url: [returnUrl] }}
      {...form}
    >
      <ChoiceField
        name="expires_in"
        label={t.orders.expiresIn}
        defaultValue="1800"
        data={[
          ...MINUTES.map(count => ({ value: String(count * 60), label: t.orders.minutes(count) })),
          ...HOURS.map(count => ({ value: String(count * 3600), label: t.orders.hours(count) })),
        ]}
      />
      <Field
        name="success_url"
        type="url"
        label={t.orders.successUrl}
        description={t.orders.successUrlHint}
        placeholder="https://"
        maxLength={2048}
      />
      <Field name="cancel_url" type="url" label={t.orders.cancelUrl} placeholder="https://" maxLength={2048} />
    </NewInvoice>
  )
}
