import type { CheckoutBody } from '@ponte/contracts'
import { useRef, useState } from 'react'
import { useCopy } from '../clipboard'
import { RequestFailed } from '../problem'
import { QrCode } from '../qr-code'
import { inOneTab, type SentPayment } from './sent-payment'
import { authorize } from './wallet/authorize'
import { payWithWallet, type Step } from './wallet/pay'
import { useWallets, type Wallet } from './wallet/provider'
import { Refusal, refusalOf } from './wallet/refusal'
import { useWords } from './words'

export interface WalletPanelProps {
  checkout: CheckoutBody
  onSent(sent: SentPayment): void
}

type Way = (
  wallet: Wallet,
  checkout: CheckoutBody,
  onStep: (step: Step) => void,
) => Promise<Pick<SentPayment, 'hash' | 'payer' | 'authorization'>>

const byTransaction: Way = async ({ provider }, checkout, onStep) => ({
  ...(await payWithWallet(provider, checkout, onStep)),
  authorization: null,
})
const bySignature: Way = async ({ provider }, checkout, onStep) => {
  const authorization = await authorize(provider, checkout, onStep)
  return { hash: null, payer: authorization.payer_address, authorization }
}

/** Pays with a wallet of this browser, and says at each moment what the wallet is asking. */
export function WalletPanel({ checkout, onSent }: WalletPanelProps) {
  const { t, usdc } = useWords()
  const wallets = useWallets()
  const [step, setStep] = useState<Step | null>(null)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const busy = useRef(false)
  // Where deposit addresses are swept, somebody pays the network fee for a signature as well.
  const canSign = refusal?.kind === 'insufficient_gas' && checkout.payment.deposit_address !== null

  const start = async (wallet: Wallet, pay: Way) => {
    if (busy.current) return
    busy.current = true
    setRefusal(null)
    try {
      const sent = await inOneTab(
        checkout.id,
        () => pay(wallet, checkout, setStep),
        () => Promise.reject(new Refusal('other_tab')),
      )
      onSent({ ...sent, at: Date.now(), receivedBefore: checkout.received })
    } catch (error) {
      setRefusal(error instanceof RequestFailed ? new Refusal('not_taken', error.message) : refusalOf(error))
    } finally {
      busy.current = false
      setStep(null)
    }
  }

  if (wallets.length === 0) return <NoWallet />
  return (
    <div className="wallets">
      <p className="due">
        <span>{t.toSend}</span> <strong>{usdc(checkout.due)}</strong>
      </p>
      {wallets.map(wallet => (
        <button
          key={wallet.name}
          type="button"
          className="primary"
          disabled={step !== null}
          onClick={() => void start(wallet, byTransaction)}
        >
          {wallet.icon && <img src={wallet.icon} alt="" width="22" height="22" />}
          {t.payWith(wallet.name)}
        </button>
      ))}
      <div role="status" className="step">
        {step && (
          <p>
            <span className="spinner" aria-hidden="true" /> {t.steps[step]}
          </p>
        )}
      </div>
      {refusal && !canSign && (
        <div role="alert" className={refusal.kind === 'refused' ? 'aside' : 'aside warn'}>
          <p>{t.refusals[refusal.kind]}</p>
          {refusal.kind === 'insufficient_usdc' && <p>{t.youHave(usdc(refusal.detail))}</p>}
          {(refusal.kind === 'unknown' || refusal.kind === 'not_taken') && refusal.detail && <p className="mono faint">{refusal.detail}</p>}
        </div>
      )}
      {canSign && (
        <div role="alert" className="aside gasless">
          <p>{t.gaslessHint}</p>
          {wallets.map(wallet => (
            <button
              key={wallet.name}
              type="button"
              className="secondary"
              disabled={step !== null}
              onClick={() => void start(wallet, bySignature)}
            >
              {t.gaslessButton}
            </button>
          ))}
        </div>
      )}
      <p className="faint">{t.walletHint}</p>
    </div>
  )
}

function NoWallet() {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  return (
    <div className="no-wallet">
      <h3>{t.noWalletTitle}</h3>
      <p>{t.noWallet}</p>
      <QrCode text={window.location.href} label={t.pageQr} />
      <button type="button" className="secondary" onClick={() => copy(window.location.href)}>
        {copied ? t.copied : t.copyPage}
      </button>
    </div>
  )
}
