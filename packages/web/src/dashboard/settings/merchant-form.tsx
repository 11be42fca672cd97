import type { MerchantBody } from '@ponte/contracts'
import { useMay } from '../api/use-memberships'
import { CheckedForm } from '../forms/checked-form'
import { AddressField, Field } from '../forms/field'
import { address, required, webUrl } from '../forms/rules'
import { useWords } from '../texts/words'

export interface MerchantFields {
  display_name: string
  webhook_url: string | null
  payout_address?: string | null
}

interface MerchantFormProps {
  /** Null while there is none: the first form asks for the payout address as well. */
  merchant: MerchantBody | null
  submit: string
  work: { error: Error | null; isPending: boolean }
  onSubmit(fields: MerchantFields): void
}

export function MerchantForm({ merchant, submit, work, onSubmit }: MerchantFormProps) {
  const { t } = useWords()
  const isNew = merchant === null
  const mayChange = useMay('updateMerchant')
  const anyAddress = { ...address, holds: (text: string) => text === '' || address.holds(text) }
  return (
    <CheckedForm
      rules={{ display_name: [required], payout_address: isNew ? [anyAddress] : [], webhook_url: [webUrl] }}
      work={work}
      onSubmit={text =>
        onSubmit({
          display_name: text('display_name'),
          webhook_url: text('webhook_url') || null,
          ...(isNew ? { payout_address: text('payout_address') || null } : {}),
        })
      }
      isReadOnly={!isNew && !mayChange}
      verb={submit}
    >
      <Field
        name="display_name"
        label={t.fields.displayName}
        description={t.fields.displayNameHint}
        defaultValue={merchant?.display_name ?? ''}
        maxLength={120}
        autoComplete="organization"
        required
        withAsterisk={false}
      />
      {isNew && <AddressField name="payout_address" label={t.fields.payout} description={t.fields.payoutHint} />}
      <Field
        name="webhook_url"
        type="url"
        label={t.fields.webhookUrl}
        description={t.fields.webhookUrlHint}
        defaultValue={merchant?.webhook_url ?? ''}
        placeholder="https://"
        maxLength={2048}
      />
    </CheckedForm>
  )
}

/** A warning about a value that was accepted. There is one for each field; its wire text is in English and begins with the field. */
export function FieldWarning({ merchant, field }: { merchant: MerchantBody; field: 'webhook_url' | 'payout_address' }) {
  const { t } = useWords()
  if (!merchant.warnings?.some(text => text.startsWith(field))) return null
  return <p className="warning">{t.fields.warnings[field]}</p>
}
