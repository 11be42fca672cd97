import type { CustomerErasureBody, EraseCustomers } from '@ponte/contracts'
import { normalizeTaxId } from '@ponte/contracts/tax-id'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { Field } from '../forms/field'
import { required, taxIdOrEmail } from '../forms/rules'
import { useWords } from '../texts/words'

const subjectOf = (typed: string): EraseCustomers => (typed.includes('@') ? { email: typed } : { tax_id: normalizeTaxId(typed) })

/** A customer who asks to be forgotten is erased from every order and subscription at once, also where no page shows them. */
export function EraseCustomersCard() {
  const { t } = useWords()
  const [erased, setErased] = useState<CustomerErasureBody | null>(null)
  return (
    <Allowed to="eraseCustomers">
      <Card title={t.invoicing.privacy}>
        <p>{t.invoicing.privacyText}</p>
        <p className="faint">{t.invoicing.erasedStays}</p>
        <Erased count={erased} />
        <div className="buttons">
          <DialogButton size="compact-sm" title={t.invoicing.eraseCustomer}>
            {close => (
              <EraseForm
                onDone={count => {
                  setErased(count)
                  close()
                }}
              />
            )}
          </DialogButton>
        </div>
      </Card>
    </Allowed>
  )
}

function EraseForm({ onDone }: { onDone(count: CustomerErasureBody): void }) {
  const { t } = useWords()
  const client = useQueryClient()
  const erasing = useMutation({
    mutationFn: api.eraseCustomers,
    onSuccess: async count => {
      await client.invalidateQueries()
      onDone(count)
    },
  })
  return (
    <CheckedForm
      rules={{ customer: [required, taxIdOrEmail] }}
      work={erasing}
      onSubmit={text => erasing.mutate(subjectOf(text('customer')))}
      verb={t.invoicing.eraseEverywhere}
      color="red"
      fullWidth
    >
      <Field name="customer" label={t.invoicing.taxIdOrEmail} description={t.invoicing.eraseWhich} maxLength={254} data-autofocus />
    </CheckedForm>
  )
}

/** Orders and subscriptions that forgot their customer. */
export function Erased({ count }: { count: CustomerErasureBody | null }) {
  const { t } = useWords()
  return <div role="status">{count && <p className="done">{t.invoicing.erased(count)}</p>}</div>
}
