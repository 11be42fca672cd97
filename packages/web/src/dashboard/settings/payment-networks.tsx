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
          const named = others.filter(({ chain_id }) => text(String(chain_id)) !== '')
          update.mutate({ chain_ids: named.length === others.length ? null : [first, ...named].map(({ chain_id }) => chain_id) })
        }}
        isReadOnly={!mayChange}
        verb={t.networks.save}
      >
        <fieldset className="kinds">
          <legend>{t.networks.label}</legend>
          <p className="faint">{t.networks.hint}</p>
          <Checkbox label={`${first.network} (${t.networks.always})`} checked disabled readOnly />
          {others.map(({ chain_id, network }) => (
            <Checkbox key={chain_id} name={String(chain_id)} label={network} defaultChecked={isChosen(chain_id)} />
          ))}
        </fieldset>
      </CheckedForm>
      <div role="status">{update.isSuccess && <p className="done">{t.saved}</p>}</div>
    </Card>
  )
}
