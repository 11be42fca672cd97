import type { CheckoutBody } from '@ponte/contracts'
import { useRef, useState } from 'react'
import { RequestFailed } from '../../problem'
import { useWallets, type Wallet } from '../../wallet/provider'
import { Refusal, refusalOf } from '../../wallet/refusal'
import { inOneTab, type SentPayment } from '../live/sent-payment'
import { useWords } from '../texts/words'
import { payWithWallet, type Step } from '../wallet/pay'
import { NoWallet } from './no-wallet'

export interface WalletPanelProps {
  checkout: CheckoutBody
  signFirst: boolean
  onSent(sent: SentPayment): void
}

type Way = (wallet: Wallet, checkout: CheckoutBody, onStep: (step: Step) => void) => Promise<Omit<SentPayment, 'at' | 'receivedBefore'>>

const byTransaction: Way = async ({ provider }, checkout, onStep) => ({
  ...(await payWithWallet(provider, checkout, onStep)),
  authorization: null,
})
const bySignature: Way = async ({ provider }, checkout, onStep) => {
  // Few payers sign without gas, and none waits for this part before.
  const { authorize } = await import('../parts').catch(() => {
    throw new Refusal('disconnected')
  })
  const authorization = await authorize(provider, checkout, onStep)
  return { hash: null, payer: authorization.payer_address, authorization }
}

/** Pays with a wallet of this browser, and states at each moment what the wallet is asking. */
export function WalletPanel({ checkout, signFirst, onSent }: WalletPanelProps) {
  const { t, usdc } = useWords()
  const wallets = useWallets()
  const [step, setStep] = useState<Step | null>(null)
  const [refused, setRefused] = useState<{ refusal: Refusal; chainId: number } | null>(null)
  const busy = useRef(false)
  // Where deposit addresses are swept, the service can pay the network fee for a signature as well.
  const { chain_id: chainId, gasless, deposit_address } = checkout.payment
  const isGasless = gasless ?? deposit_address !== null
  // It is no answer about another network that was chosen since.
  const refusal = refused?.chainId === chainId ? refused.refusal : null
  const hasNoGas = refusal?.kind === 'insufficient_gas' && isGasless
  const canSign = hasNoGas || (signFirst && isGasless)

  const start = async (wallet: Wallet, pay: Way) => {
    if (busy.current) return
    busy.current = true
    setRefused(null)
    try {
      const sent = await inOneTab(
        checkout.id,
        () => pay(wallet, checkout, setStep),
        () => Promise.reject(new Refusal('other_tab')),
      )
      onSent({ ...sent, at: Date.now(), receivedBefore: checkout.received })
    } catch (error) {
      setRefused({ refusal: error instanceof RequestFailed ? new Refusal('not_taken') : refusalOf(error), chainId })
    } finally {
      busy.current = false
      setStep(null)
    }
  }
  const buttons = (way: Way, className: string, label: (wallet: Wallet) => string) =>
    wallets.map(wallet => (
      <button key={wallet.name} type="button" className={className} disabled={step !== null} onClick={() => void start(wallet, way)}>
        {wallet.icon && <img src={wallet.icon} alt="" width="22" height="22" />}
        {label(wallet)}
      </button>
    ))

  if (wallets.length === 0) return <NoWallet />
  return (
    <div className="wallets">
      <p className="due">
        <span>{t.toSend}</span> <strong>{usdc(checkout.due)}</strong>
      </p>
      {hasNoGas && (
        <p className="aside" role="alert">
          {t.gaslessHint}
        </p>
      )}
      {/* The button that works is the one that stands out. */}
      {canSign && buttons(bySignature, 'primary', () => t.gaslessButton)}
      {buttons(byTransaction, canSign ? 'secondary' : 'primary', wallet => t.payWith(wallet.name))}
      <div role="status" className="step">
        {step && (
          <p>
            <span className="spinner" aria-hidden="true" /> {t.steps[step]}
          </p>
        )}
      </div>
      {refusal && !hasNoGas && (
        <div role="alert" className={refusal.kind === 'refused' ? 'aside' : 'aside warn'}>
          <p>{t.refusals[refusal.kind]}</p>
          {refusal.kind === 'insufficient_usdc' && <p>{t.youHave(usdc(refusal.detail))}</p>}
          {refusal.kind === 'unknown' && refusal.detail && <p className="mono faint">{refusal.detail}</p>}
        </div>
      )}
      <p className="faint">{t.walletHint}</p>
    </div>
  )
}
