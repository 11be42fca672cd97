import { NativeSelect, TextInput } from '@mantine/core'
import { api } from '../api/api'
import type { FieldText } from '../forms/checked-form'
import type { Opened } from '../forms/dialog'
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
      {faultOf => (
        <>
          <NativeSelect
            name="interval"
            label={t.subscriptions.interval}
            data={[
              ...INTERVALS.map(value => ({ value, label: t.subscriptions.intervals[value] })),
              { value: '', label: t.subscriptions.manual },
            ]}
          />
          <TextInput
            name="max_periods"
            label={t.subscriptions.maxPeriods}
            description={t.subscriptions.maxHint}
            inputMode="numeric"
            autoComplete="off"
            error={faultOf('max_periods')}
          />
          <TextInput
            name="trial_periods"
            label={t.subscriptions.trial}
            description={t.subscriptions.trialHint}
            inputMode="numeric"
            autoComplete="off"
            error={faultOf('trial_periods')}
          />
        </>
      )}
    </NewInvoice>
  )
}
