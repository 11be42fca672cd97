import { NativeSelect } from '@mantine/core'
import { api } from '../api'
import { NewInvoice, type Opened } from '../forms'
import { useWords } from '../texts'

const MINUTES = [15, 30]
const HOURS = [1, 24, 72]

export function NewOrder(form: Opened) {
  const { t } = useWords()
  return (
    <NewInvoice kind="orders" create={api.createOrder} own={text => ({ expires_in: Number(text('expires_in')) })} {...form}>
      {() => (
        <NativeSelect
          name="expires_in"
          label={t.orders.expiresIn}
          defaultValue="1800"
          data={[
            ...MINUTES.map(count => ({ value: String(count * 60), label: t.orders.minutes(count) })),
            ...HOURS.map(count => ({ value: String(count * 3600), label: t.orders.hours(count) })),
          ]}
        />
      )}
    </NewInvoice>
  )
}
