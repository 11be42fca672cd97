import { useEffect, useState } from 'react'
import { useLanguage } from '../../language'
import { useWallets } from '../../wallet/provider'
import { networkTexts } from './network-texts'
import { PaymentMethods, type PaymentMethodsProps } from './payment-methods'
import { rightNetworks } from './right-networks'
import './network-choice.css'

/** The networks of an order, of which the payer chooses one; then the ways to pay on it. */
export function NetworkChoice({ checkout, ...rest }: PaymentMethodsProps) {
  const language = useLanguage()
  const t = networkTexts[language]
  const { payment } = checkout
  const networks = payment.networks ?? []
  const [choice, choose] = useState<number | null>(null)
  const [shown, show] = useState<number | null>(null)
  const [wallet] = useWallets()
  const provider = wallet?.provider
  useEffect(() => {
    // A wallet shows its network without being asked for its accounts.
    provider?.request({ method: 'eth_chainId' }).then(
      answer => show(Number(answer)),
      () => undefined,
    )
  }, [provider])
  const chosen =
    networks.find(({ chain_id }) => chain_id === choice) ?? networks.find(({ chain_id, suspended }) => chain_id === shown && !suspended)
  return (
    <>
      <fieldset className="networks">
        <legend>{t.choose}</legend>
        {networks.map(({ network, chain_id, typical_seconds, gasless, suspended }) => (
          <label key={chain_id}>
            <input type="radio" name="network" checked={chain_id === chosen?.chain_id} onChange={() => choose(chain_id)} />
            <span>
              <strong>{network}</strong>
              <span className="faint">
                {suspended ? t.suspended : t.counts(typical_seconds)}
                {gasless && <span>{t.gasless}</span>}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen ? (
        <PaymentMethods
          {...rest}
          checkout={{ ...checkout, payment: { ...payment, ...chosen } }}
          places={rightNetworks(payment, chosen, language)}
        />
      ) : (
        <p className="faint">{t.exchange}</p>
      )}
    </>
  )
}
