import type { MerchantBody, NetworkBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { useNetworks } from '../api/use-networks'
import { CopyValue } from '../elements/copy'
import { CheckedForm } from '../forms/checked-form'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { AddressField, ChoiceField } from '../forms/field'
import { address, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { useMerchantSaved } from './merchant-saved'

/** Payout addresses that hold on one network alone, where there are several. */
export function NetworkPayouts({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  const saved = useMerchantSaved()
  const [, ...others] = useNetworks()
  const own = Object.entries(merchant.payout_addresses ?? {})
  if (merchant.payout_address === null || (others.length === 0 && own.length === 0)) return null
  const nameOf = (chainId: string) => others.find(({ chain_id }) => String(chain_id) === chainId)?.network ?? chainId
  return (
    <>
      {own.map(([chainId, named]) => (
        <div key={chainId} className="secret">
          <p className="faint">{t.payout.own.on(nameOf(chainId))}</p>
          <CopyValue value={named} label={`${t.fields.payout}, ${t.payout.own.on(nameOf(chainId))}`} />
          <Allowed to="signPayoutChange">
            <div className="buttons">
              <Confirmed
                action={t.payout.own.end}
                question={t.payout.own.endSure(nameOf(chainId))}
                work={() => api.updateMerchant({ payout_addresses: { [chainId]: null } })}
                onDone={saved}
              />
            </div>
          </Allowed>
        </div>
      ))}
      {others.length > 0 && (
        <Allowed to="signPayoutChange">
          <div className="buttons">
            <DialogButton variant="default" title={t.payout.own.title}>
              {close => (
                <Name
                  networks={others}
                  onDone={next => {
                    saved(next)
                    close()
                  }}
                />
              )}
            </DialogButton>
          </div>
        </Allowed>
      )}
    </>
  )
}

function Name({ networks, onDone }: { networks: readonly NetworkBody[]; onDone(merchant: MerchantBody): void }) {
  const { t } = useWords()
  const [chainId, choose] = useState(String(networks[0]?.chain_id))
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: onDone })
  return (
    <CheckedForm
      rules={{ payout_addresses: [required, address] }}
      work={update}
      onSubmit={text => update.mutate({ payout_addresses: { [chainId]: text('payout_addresses') } })}
      verb={t.payout.change}
      color="red"
      fullWidth
    >
      <p>{t.payout.own.text}</p>
      <ChoiceField
        name="network"
        label={t.payout.own.network}
        data={networks.map(({ chain_id, network }) => ({ value: String(chain_id), label: network }))}
        value={chainId}
        onChange={event => choose(event.currentTarget.value)}
      />
      <AddressField name="payout_addresses" label={t.payout.fresh} description={t.payout.sure} data-autofocus />
      <p className="faint">{t.payout.own.later}</p>
    </CheckedForm>
  )
}
