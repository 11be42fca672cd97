import { Button, TextInput } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import type { FormEvent } from 'react'
import { useWords } from '../texts'

export interface MerchantFields {
  display_name: string
  webhook_url: string | null
  payout_address: string | null
}

export function MerchantForm(of: { merchant: MerchantBody | null; submit: string; busy: boolean; onSubmit(fields: MerchantFields): void }) {
  const { t } = useWords()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name)).trim()
    of.onSubmit({
      display_name: text('display_name'),
      webhook_url: text('webhook_url') || null,
      payout_address: text('payout_address') || null,
    })
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        name="display_name"
        label={t.fields.displayName}
        description={t.fields.displayNameHint}
        defaultValue={of.merchant?.display_name ?? ''}
        maxLength={120}
        autoComplete="organization"
        required
        withAsterisk={false}
      />
      <TextInput
        name="payout_address"
        label={t.fields.payout}
        description={t.fields.payoutHint}
        defaultValue={of.merchant?.payout_address ?? ''}
        pattern="0x[0-9a-fA-F]{40}"
        placeholder="0x…"
        autoComplete="off"
        spellCheck={false}
      />
      <TextInput
        name="webhook_url"
        type="url"
        label={t.fields.webhookUrl}
        description={t.fields.webhookUrlHint}
        defaultValue={of.merchant?.webhook_url ?? ''}
        placeholder="https://"
        autoComplete="off"
      />
      <Button type="submit" loading={of.busy}>
        {of.submit}
      </Button>
    </form>
  )
}

/** What the service accepted and yet warns of; in the reader's language where we know it. */
export function Warnings({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  return merchant.warnings?.map(warning => (
    <p key={warning} className="warning">
      {warning.startsWith('webhook_url names an internal address') ? t.fields.webhookUrlInternal : warning}
    </p>
  ))
}
