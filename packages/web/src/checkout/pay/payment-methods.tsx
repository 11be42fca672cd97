import type { CheckoutBody } from '@ponte/contracts'
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import { useWallets } from '../../wallet/provider'
import type { SentPayment } from '../live/sent-payment'
import { useWords } from '../texts/words'
import { TransferPanel } from './transfer-panel'
import { WalletPanel } from './wallet-panel'
import './payment-methods.css'

const methods = ['wallet', 'transfer'] as const
type Method = (typeof methods)[number]

export interface PaymentMethodsProps {
  checkout: CheckoutBody
  /** The networks where its address is right, when they are several. */
  places?: string
  /** In place of the address, until the payer has chosen a network. */
  before?: ReactNode
  /** A signature of this payment is in others' hands: one of the same amount is offered before any other way. */
  signFirst: boolean
  onSent(sent: SentPayment): void
}

/** The ways to pay. Without a deposit address there is one, and no choice to make. */
export function PaymentMethods({ checkout, places, before, signFirst, onSent }: PaymentMethodsProps) {
  const { t } = useWords()
  const id = useId()
  const wallets = useWallets()
  const [choice, choose] = useState<Method | null>(null)
  // A wallet may announce itself after the page is drawn; what the payer has begun with stays.
  const chosen = choice ?? (wallets.length > 0 || signFirst ? 'wallet' : 'transfer')
  const address = checkout.payment.deposit_address
  const wallet = <WalletPanel checkout={checkout} signFirst={signFirst} onSent={onSent} />
  if (address === null) return wallet

  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return
    const next = chosen === 'wallet' ? 'transfer' : 'wallet'
    choose(next)
    document.getElementById(`${id}${next}`)?.focus()
  }
  return (
    <>
      <div role="tablist" aria-label={t.methods} className="tabs" onKeyDown={onKey}>
        {methods.map(method => (
          <button
            key={method}
            id={`${id}${method}`}
            type="button"
            role="tab"
            aria-selected={chosen === method}
            aria-controls={`${id}panel`}
            tabIndex={chosen === method ? 0 : -1}
            onClick={() => choose(method)}
          >
            {t[method]}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}panel`}
        aria-labelledby={`${id}${chosen}`}
        onPointerDownCapture={() => choose(chosen)}
        onKeyDownCapture={() => choose(chosen)}
      >
        {chosen === 'wallet' ? wallet : (before ?? <TransferPanel checkout={checkout} address={address} places={places} />)}
      </div>
    </>
  )
}
