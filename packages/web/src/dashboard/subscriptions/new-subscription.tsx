import { NativeSelect, TextInput } from '@mantine/core'
import { api } from '../api'
import { type FieldText, NewInvoice, type Opened, periods } from '../forms'
import { useWords } from '../texts'

const INTERVALS = ['month', 'week', 'day', 'year'] as const

export function NewSubscription(form: Opened) {
  const { t } = useWords()
  const own = (text: FieldText) => ({
    interval: text('interval') || null,
    max_periods: text('max_periods') ? Number(text('max_periods')) : null,
  })
  return (
    <NewInvoice kind="subscriptions" create={api.createSubscription} own={own} rules={{ max_periods: [periods] }} {...form}>
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
        </>
      )}
    </NewInvoice>
  )
}
