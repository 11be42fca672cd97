import type { CheckoutBody } from '@ponte/contracts'
import { useState } from 'react'
import { usdc } from '../amounts'
import { QrCode } from '../qr-code'
import { CopyField } from './copy-field'
import { useWords } from './words'

/** For everyone whose money is on an exchange or in a wallet elsewhere: an address of this order alone. */
export function TransferPanel({ checkout, address }: { checkout: CheckoutBody; address: string }) {
  const { t, language } = useWords()
  const [bare, setBare] = useState(false)
  const uri = checkout.payment.payment_uri
  const choices = [
    { label: t.qrRequest, chosen: !bare, choose: () => setBare(false) },
    { label: t.qrAddress, chosen: bare, choose: () => setBare(true) },
  ]
  return (
    <div className="transfer">
      <p>{t.transferHint(checkout.payment.network)}</p>
      <QrCode text={bare || uri === null ? address : uri} label={t.transferQr} />
      {uri !== null && (
        <fieldset className="choices">
          <legend className="hidden">{t.qrKind}</legend>
          {choices.map(({ label, chosen, choose }) => (
            <button key={label} type="button" aria-pressed={chosen} onClick={choose}>
              {label}
            </button>
          ))}
        </fieldset>
      )}
      <CopyField label={t.amount} value={checkout.due} shown={usdc(checkout.due, language)} mono={false} />
      <CopyField label={t.address} value={address} />
      <CopyField label={t.token} value={checkout.payment.token_address} />
      <p className="faint">{t.transferFees}</p>
    </div>
  )
}
