import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { useNetworks } from '../api/use-networks'
import { useWords } from '../texts/words'

interface NetworkFilterProps extends Pick<NativeSelectProps, 'maw' | 'mb'> {
  value: string | undefined
  onChoose(chainId: string): void
}

/** The network that a list is of, where there are several. */
export function NetworkFilter({ value, onChoose, ...look }: NetworkFilterProps) {
  const { t } = useWords()
  const networks = useNetworks()
  if (networks.length < 2) return null
  return (
    <NativeSelect
      {...look}
      label={t.lists.network}
      value={value ?? ''}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      data={[{ value: '', label: t.all }, ...networks.map(({ chain_id, network }) => ({ value: String(chain_id), label: network }))]}
    />
  )
}
