import { Button, NativeSelect, TextInput } from '@mantine/core'
import type { Customer, CustomerErasureBody, CustomerInput, OperationId } from '@ponte/contracts'
import { formatTaxId } from '@ponte/contracts/tax-id'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Card } from '../elements/card'
import { Facts } from '../elements/facts'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
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
          <DialogButton title={customer ? t.invoicing.changeCustomer : t.invoicing.nameCustomer}>
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
  const rows: [string, ReactNode][] = [
    [t.invoicing.name, name],
    [t.invoicing.email, email],
    [t.invoicing.taxId, tax_id && formatTaxId(tax_id)],
    [t.invoicing.resident, resident === null ? null : t.invoicing.residence[residenceOf(resident)]],
  ]
  return <Facts rows={rows.filter(([, value]) => value !== null)} />
}

function CustomerForm({ customer, save, onDone }: Pick<CustomerCardProps, 'customer' | 'save' | 'onDone'>) {
  const { t } = useWords()
  const saving = useMutation({ mutationFn: save, onSuccess: onDone })
  return (
    <CheckedForm
      rules={CUSTOMER_RULES}
      error={saving.error}
      onSubmit={text => saving.mutate(customerIn(text))}
      action={
        <Button type="submit" loading={saving.isPending} fullWidth>
          {t.save}
        </Button>
      }
    >
      {faultOf => <CustomerFields customer={customer} faultOf={faultOf} />}
    </CheckedForm>
  )
}

export const CUSTOMER_RULES = { 'customer.email': [optionalEmail], 'customer.tax_id': [optionalTaxId] }

/** A customer as its fields have it. */
export const customerIn = (text: FieldText): CustomerInput => ({
  name: text('customer.name') || null,
  email: text('customer.email') || null,
  tax_id: text('customer.tax_id') || null,
  resident: RESIDENT[text('resident') as Residence],
})

export function CustomerFields({ customer, faultOf }: { customer?: Customer | undefined; faultOf(name: string): string | undefined }) {
  const { t } = useWords()
  return (
    <>
      <TextInput name="customer.name" label={t.invoicing.name} maxLength={200} autoComplete="off" defaultValue={customer?.name ?? ''} />
      <TextInput
        name="customer.email"
        label={t.invoicing.email}
        inputMode="email"
        maxLength={254}
        autoComplete="off"
        defaultValue={customer?.email ?? ''}
        error={faultOf('customer.email')}
      />
      <TextInput
        name="customer.tax_id"
        label={t.invoicing.taxId}
        description={t.invoicing.taxIdHint}
        maxLength={40}
        autoComplete="off"
        defaultValue={customer?.tax_id ? formatTaxId(customer.tax_id) : ''}
        error={faultOf('customer.tax_id')}
      />
      <NativeSelect
        name="resident"
        label={t.invoicing.resident}
        defaultValue={residenceOf(customer?.resident)}
        data={Object.entries(t.invoicing.residence).map(([value, label]) => ({ value, label }))}
      />
    </>
  )
}
