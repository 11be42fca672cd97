import { NativeSelect } from '@mantine/core'
import { chooseMerchant } from '../api/chosen-merchant'
import { useMemberships } from '../api/use-memberships'
import { useWords } from '../texts/words'

/** The name of the store, or a choice where the user belongs to several. Another store is another visit: nothing of this one stays. */
export function StoreSwitch({ id, name }: { id: string | undefined; name: string | undefined }) {
  const { t } = useWords()
  const { data = [] } = useMemberships()
  if (data.length < 2) return name && <p className="store">{name}</p>
  const choose = (chosen: string) => {
    chooseMerchant(chosen)
    window.location.assign('/dashboard')
  }
  return (
    <NativeSelect
      className="store-switch"
      aria-label={t.chooseStore}
      value={id ?? ''}
      onChange={event => choose(event.currentTarget.value)}
      data={data.map(({ merchant_id, display_name }) => ({ value: merchant_id, label: display_name }))}
    />
  )
}
