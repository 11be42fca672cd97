import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { supportedChains, usualFeeUsd } from '@ponte/payment-router/supported-chains'
import { useEffect, useEffectEvent, useState } from 'react'
import { accountOf } from '../../wallet/connected'
import { type Provider, useWallets } from '../../wallet/provider'
import { useWords } from '../texts/words'
import { asked } from '../wallet/asked'
import { type Holdings, holdingsOf, sharedAccount } from '../wallet/holdings'
import { holdsEnough, networkOrder } from './network-order'
import { networkTexts } from './network-texts'
import { PaymentMethods, type PaymentMethodsProps } from './payment-methods'
import { rightNetworks } from './right-networks'
import './network-choice.css'

/** A wallet's network, and its balances once it has shared an account: it does not have to change for them. */
interface Shown {
  chainId: number
  account: string | null
  holdings: Holdings
}

/** The networks of an order, of which the payer chooses one; then the ways to pay on it. */
export function NetworkChoice({ checkout, ...rest }: PaymentMethodsProps) {
  const { language, usdc } = useWords()
  const t = networkTexts[language]
  const { authorization } = checkout
  const payment = { ...checkout.payment, networks: (checkout.payment.networks ?? []).map(named) }
  // A signature that others may still submit is of one network: no other one is offered beside it.
  const offered = payment.networks.filter(({ chain_id }) => !rest.signFirst || chain_id === (authorization?.chain_id ?? payment.chain_id))
  const [wallet] = useWallets()
  const [choice, choose] = useState<{ chainId: number; order: number[]; byPayer: boolean } | null>(null)
  const [shown, look] = useShown(wallet?.provider, payment.networks, chainId => {
    // A network that was chosen for an exchange stays, wherever the wallet goes.
    if (choice?.byPayer || chosen?.chain_id !== shown?.chainId) return
    if (networks.some(({ chain_id, suspended }) => chain_id === chainId && !suspended)) pick(chainId, false)
  })
  const due = parseUsdc(checkout.due)
  const holdings = shown?.holdings ?? new Map()
  const best = networkOrder(offered, holdings, due)
  // Nothing moves any more under the hand of who has begun to choose.
  const networks = choice ? choice.order.flatMap(id => best.filter(({ chain_id }) => chain_id === id)) : best
  const chosen =
    networks.find(({ chain_id }) => rest.signFirst || chain_id === choice?.chainId) ??
    networks.find(({ chain_id, suspended }) => !suspended && holdsEnough(holdings, chain_id, due)) ??
    networks.find(({ chain_id, suspended }) => !suspended && chain_id === shown?.chainId)
  const pick = (chainId: number, byPayer: boolean) => choose({ chainId, order: networks.map(({ chain_id }) => chain_id), byPayer })
  const held = (chainId: number) => {
    const units = holdings.get(chainId)
    return units !== undefined && <span>{(units >= due ? t.holds : t.short)(usdc(formatUsdc(units)))}</span>
  }
  return (
    <>
      <fieldset className="networks">
        <legend>{t.choose}</legend>
        {networks.map(({ network, chain_id, typical_seconds, gasless, suspended }) => (
          <label key={chain_id}>
            <input
              type="radio"
              name="network"
              checked={chain_id === chosen?.chain_id}
              onChange={() => pick(chain_id, true)}
              // One that the wallet chose is checked already, and changes no more.
              onClick={() => pick(chain_id, true)}
            />
            <span className="mark" aria-hidden="true">
              {network.slice(0, 2)}
            </span>
            <span>
              <strong>{network}</strong>
              {held(chain_id)}
              <span className="faint">{suspended ? t.suspended : t.costs(typical_seconds, usualFeeUsd(chain_id))}</span>
              {gasless && <span className="faint">{t.gasless}</span>}
            </span>
          </label>
        ))}
      </fieldset>
      {shown?.account === null && (
        <button type="button" className="quiet flush" onClick={() => void look()}>
          {t.look}
        </button>
      )}
      <p role="status" className="faint">
        {shown?.account && holdings.size === 0 && t.unseen}
      </p>
      {chosen ? (
        <PaymentMethods
          {...rest}
          checkout={{
            ...checkout,
            payment: { ...payment, ...chosen, merchant_address: chosen.merchant_address ?? payment.merchant_address },
          }}
          places={rightNetworks(payment, chosen, language)}
          // An exchange may not send by the network of the wallet.
          before={choice?.byPayer ? undefined : <p>{t.exchange}</p>}
        />
      ) : (
        <p className="faint">{t.exchange}</p>
      )}
    </>
  )
}

type Networks = NonNullable<PaymentMethodsProps['checkout']['payment']['networks']>

const named = <N extends Networks[number]>(network: N): N => ({
  ...network,
  network: supportedChains[network.chain_id]?.name ?? network.network,
})

/** A wallet's network and balances as far as it shows them by itself, and a function that asks its owner to share an account. `moved` hears of each network that it goes to. */
function useShown(
  provider: Provider | undefined,
  networks: Networks,
  moved: (chainId: number) => void,
): [Shown | null, () => Promise<void>] {
  // Their addresses stay as the order was made.
  const [asOpened] = useState(networks)
  const [shown, show] = useState<Shown | null>(null)
  const [changes, change] = useState(0)
  const onChain = useEffectEvent((chainId: unknown) => moved(Number(chainId)))
  useEffect(() => {
    const follow = (chainId: unknown) => {
      onChain(chainId)
      change(count => count + 1)
    }
    provider?.on?.('chainChanged', follow)
    return () => void provider?.removeListener?.('chainChanged', follow)
  }, [provider])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the wallet shows something else after each change
  useEffect(() => {
    let isGone = false
    if (provider)
      void read(provider, sharedAccount(provider), asOpened).then(next => {
        if (!isGone) show(next)
      })
    return () => {
      isGone = true
    }
  }, [provider, asOpened, changes])
  const look = async () => {
    if (provider)
      show(
        await read(
          provider,
          accountOf(provider).catch(() => null),
          asOpened,
        ),
      )
  }
  return [shown, look]
}

async function read(provider: Provider, sharing: Promise<string | null>, networks: Networks): Promise<Shown> {
  const account = await sharing
  const holdings = account === null ? new Map() : await holdingsOf(provider, account, networks)
  return { chainId: Number(await asked(provider, 'eth_chainId')), account, holdings }
}
