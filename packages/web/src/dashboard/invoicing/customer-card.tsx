import type { Customer, CustomerErasureBody, CustomerInput, OperationId } from '@ponte/contracts'
import { formatTaxId } from '@ponte/contracts/tax-id'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Card } from '../elements/card'
import { Facts } from '../elements/facts'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { ChoiceField, Field, labelled } from '../forms/field'
import { optionalEmail, optionalTaxId } from '../forms/rules'
import { useWords } from '../texts/words'
import { Erased } from './erase-customers'

interface CustomerCardProps {
  customer: Customer | undefined
  /** Needed to change it. */
  by: OperationId
  hint?: string
  /** Null erases it. */
  save(customer: CustomerInput | null): Promise<unknown>
  onDone(): void
}

const RESIDENT = { yes: true, no: false, unknown: null } as const
type Residence = keyof typeof RESIDENT
const residenceOf = (resident: boolean | null | undefined): Residence => (resident === true ? 'yes' : resident === false ? 'no' : 'unknown')

/** The customer of an order or a subscription. Only what is known of it is shown. */
export function CustomerCard({ customer, by, hint, save, onDone }: CustomerCardProps) {
  const { t } = useWords()
  const [erased, setErased] = useState<CustomerErasureBody | null>(null)
  const subject = { ...(customer?.tax_id ? { tax_id: customer.tax_id } : {}), ...(customer?.email ? { email: customer.email } : {}) }
  return (
    <Card title={t.invoicing.customer}>
      {customer ? <Known customer={customer} /> : <p className="faint">{t.invoicing.noCustomer}</p>}
      {hint && <p className="faint">{hint}</p>}
      <Allowed to={by}>
        <div className="buttons">
          <DialogButton size="compact-sm" title={customer ? t.invoicing.changeCustomer : t.invoicing.nameCustomer}>
            {close => (
              <CustomerForm
                customer={customer}
                save={save}
                onDone={() => {
                  onDone()
                  close()
                }}
              />
            )}
          </DialogButton>
          {customer && (
            <Confirmed action={t.invoicing.eraseCustomer} question={t.invoicing.eraseSure} work={() => save(null)} onDone={onDone} />
          )}
          {Object.keys(subject).length > 0 && (
            <Allowed to="eraseCustomers">
              <Confirmed
                action={t.invoicing.eraseEverywhere}
                question={t.invoicing.eraseEverywhereSure}
                work={() => api.eraseCustomers(subject)}
                onDone={count => {
                  setErased(count)
                  onDone()
                }}
              />
            </Allowed>
          )}
        </div>
      </Allowed>
      <Erased count={erased} />
    </Card>
  )
}

function Known({ customer: { name, email, tax_id, resident } }: { customer: Customer }) {
  const { t } = useWords()
  return (
    <Facts
      rows={[
        name && [t.invoicing.name, name],
        email && [t.invoicing.email, email],
        tax_id && [t.invoicing.taxId, formatTaxId(tax_id)],
        resident !== null && [t.invoicing.resident, t.invoicing.residence[residenceOf(resident)]],
      ]}
    />
  )
}

function CustomerForm({ customer, save, onDone }: Pick<CustomerCardProps, 'customer' | 'save' | 'onDone'>) {
  const { t } = useWords()
  const saving = useMutation({ mutationFn: save, onSuccess: onDone })
  return (
    <CheckedForm rules={CUSTOMER_RULES} work={saving} onSubmit={text => saving.mutate(customerIn(text))} verb={t.save} fullWidth>
      <CustomerFields customer={customer} />
    </CheckedForm>
  )
}

export const CUSTOMER_RULES = { 'customer.email': [optionalEmail], 'customer.tax_id': [optionalTaxId] }

export const customerIn = (text: FieldText): CustomerInput => ({
  name: text('customer.name') || null,
  email: text('customer.email') || null,
  tax_id: text('customer.tax_id') || null,
  resident: RESIDENT[text('resident') as Residence],
})

export function CustomerFields({ customer }: { customer?: Customer | undefined }) {
  const { t } = useWords()
  return (
    <>
      <Field name="customer.name" label={t.invoicing.name} maxLength={200} defaultValue={customer?.name ?? ''} />
      <Field name="customer.email" label={t.invoicing.email} inputMode="email" maxLength={254} defaultValue={customer?.email ?? ''} />
      <Field
        name="customer.tax_id"
        label={t.invoicing.taxId}
        description={t.invoicing.taxIdHint}
        maxLength={40}
        defaultValue={customer?.tax_id ? formatTaxId(customer.tax_id) : ''}
      />
      <ChoiceField
        name="resident"
        label={t.invoicing.resident}
        defaultValue={residenceOf(customer?.resident)}
        data={labelled(t.invoicing.residence)}
      />
    </>
  )
}
