import type { CheckoutBody } from '@ponte/contracts'
import { useState } from 'react'
import { askedUsdc, shortDecimal } from '../../asked-amount'
import { networkName } from '../../networks'
import { QrCode } from '../../qr-code'
import { CopyBlock, CopyField } from '../elements/copy-field'
import { Fold } from '../elements/fold'
import { useWords } from '../texts/words'
import { isPhone } from './wallet-links'

interface TransferPanelProps {
  checkout: CheckoutBody
  address: string
  places: string | undefined
}

/** For those whose money is on an exchange or in a wallet elsewhere: the amount, then an address of this order alone. */
export function TransferPanel({ checkout, address, places }: TransferPanelProps) {
  const { t, usdc } = useWords()
  const { chain_id, payment_uri: uri, token_address } = checkout.payment
  const network = networkName(chain_id, checkout.payment.network)
  const asked = askedUsdc(checkout.due, checkout.usdc_amount)
  return (
    <div className="transfer">
      <div className="transfer-main">
        <CopyBlock label={t.amount} value={shortDecimal(asked)} shown={usdc(asked)} action={t.copyAmount} />
        <CopyBlock label={t.address} value={address} action={t.copyAddress} />
      </div>
      <Scan address={address} uri={uri} />
      <div className="transfer-rest">
        <p className="aside warn">{t.transferWarning(places ?? network)}</p>
        <CopyField label={`${t.token} (${network})`} value={token_address} />
        <Fold summary={t.fromExchange} part="ExchangeSteps" checkout={checkout} />
      </div>
    </div>
  )
}

/** For a wallet on another device. A phone, whose wallet opens the request itself, cannot scan its own screen: it shows the code when it is asked for. */
function Scan({ address, uri }: { address: string; uri: string | null }) {
  const { t } = useWords()
  const [isBare, setBare] = useState(false)
  const choices = [
    { label: t.qrRequest, isChosen: !isBare, choose: () => setBare(false) },
    { label: t.qrAddress, isChosen: isBare, choose: () => setBare(true) },
  ]
  return (
    <div className="scan">
      {uri !== null && isPhone() && (
        <a className="secondary" href={uri}>
          {t.openInWallet}
        </a>
      )}
      <details className="safety" open={!isPhone()}>
        <summary>{t.scan}</summary>
        <QrCode text={isBare || uri === null ? address : uri} label={t.transferQr} />
        {uri !== null && (
          <fieldset className="choices">
            <legend className="hidden">{t.qrKind}</legend>
            {choices.map(({ label, isChosen, choose }) => (
              <button key={label} type="button" aria-pressed={isChosen} onClick={choose}>
                {label}
              </button>
            ))}
          </fieldset>
        )}
      </details>
    </div>
  )
}
