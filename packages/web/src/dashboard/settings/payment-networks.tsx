import { Checkbox } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { useNetworks } from '../api/use-networks'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import { useWords } from '../texts/words'
import { useMerchantSaved } from './merchant-saved'

/** The networks that new orders may be paid on, where there is a choice. */
export function PaymentNetworks({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  const saved = useMerchantSaved()
  const mayChange = useMay('signPayoutChange')
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: saved })
  const [first, ...others] = useNetworks()
  if (!first || others.length === 0) return null
  const chosen = merchant.chain_ids ?? null
  const isChosen = (chainId: number) => chosen?.includes(chainId) ?? true
  return (
    <Card title={t.networks.title}>
      <CheckedForm
        rules={{}}
        work={update}
        onSubmit={text => {
          const named = others.filter(({ chainId }) => text(String(chainId)) !== '')
          update.mutate({ chain_ids: named.length === others.length ? null : [first, ...named].map(({ chainId }) => chainId) })
        }}
        isReadOnly={!mayChange}
        verb={t.networks.save}
      >
        <fieldset className="kinds">
          <legend>{t.networks.label}</legend>
          <p className="faint">{t.networks.hint}</p>
          <Checkbox label={`${first.name} (${t.team.always})`} checked disabled readOnly />
          {others.map(({ chainId, name }) => (
            <Checkbox key={chainId} name={String(chainId)} label={name} defaultChecked={isChosen(chainId)} />
          ))}
        </fieldset>
      </CheckedForm>
      <div role="status">{update.isSuccess && <p className="done">{t.saved}</p>}</div>
    </Card>
  )
}
