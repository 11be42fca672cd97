import { api } from '../api/api'
import type { FieldText } from '../forms/checked-form'
import type { Opened } from '../forms/dialog'
import { ChoiceField, Field } from '../forms/field'
import { NewInvoice } from '../forms/new-invoice'
import { periods } from '../forms/rules'
import { useWords } from '../texts/words'

const INTERVALS = ['month', 'week', 'day', 'year'] as const

export function NewSubscription(form: Opened) {
  const { t } = useWords()
  const own = (text: FieldText) => ({
    interval: text('interval') || null,
    max_periods: text('max_periods') ? Number(text('max_periods')) : null,
    ...(text('trial_periods') && text('interval') ? { trial_periods: Number(text('trial_periods')) } : {}),
  })
  return (
    <NewInvoice
      kind="subscriptions"
      create={api.createSubscription}
      own={own}
      rules={{ max_periods: [periods], trial_periods: [periods] }}
      {...form}
    >
      <ChoiceField
        name="interval"
        label={t.subscriptions.interval}
        data={[
          ...INTERVALS.map(value => ({ value, label: t.subscriptions.intervals[value] })),
          { value: '', label: t.subscriptions.manual },
        ]}
      />
      <Field name="max_periods" label={t.subscriptions.maxPeriods} description={t.subscriptions.maxHint} inputMode="numeric" />
      <Field name="trial_periods" label={t.subscriptions.trial} description={t.subscriptions.trialHint} inputMode="numeric" />
    </NewInvoice>
  )
}
