import { useId, useState } from 'react'
import { networkName } from '../../networks'
import { usdcFrom } from '../../reais'
import { CopyBlock } from '../elements/copy-field'
import type { Folded } from '../elements/fold'
import { useWords } from '../texts/words'
import { exchangeTexts, namesAtExchanges } from './exchange-texts'
import { rightNetworks } from './right-networks'
import { isInCents, withdrawalOf } from './withdrawal'

const isNothing = (text: string) => /^[0.,\s]*$/.test(text)

/** For a payer whose USDC is on an exchange: its network, its fee and its field's notation make up the amount to type in. */
export const ExchangeSteps: Folded = ({ checkout }) => {
  const { usdc, exactMoment, language } = useWords()
  const t = exchangeTexts[language]
  const { payment } = checkout
  const { networks, chain_id } = payment
  const network = networkName(chain_id, payment.network)
  const written = namesAtExchanges[chain_id]
  const [fee, setFee] = useState('')
  const [hasComma, setComma] = useState(language === 'pt')
  const [field, fault] = [useId(), useId()]
  const read = isNothing(fee) ? '0.00' : usdcFrom(fee, language)
  const amount = read && withdrawalOf(checkout.due, checkout.usdc_amount, read)
  const typed = amount && (hasComma ? amount.replace('.', ',') : amount)
  return (
    <div className="folded">
      <ol>
        <li>
          {networks ? t.chosen(network, rightNetworks(payment, payment, language)) : t.network(network)}
          {written && ` ${t.written(written)}`}
        </li>
        <li>{t.arrives(usdc(checkout.due))}</li>
      </ol>
      <label htmlFor={field}>{t.fee}</label>
      <input
        id={field}
        inputMode="decimal"
        autoComplete="off"
        maxLength={20}
        value={fee}
        onChange={event => setFee(event.target.value)}
        aria-invalid={read === null}
        aria-describedby={fault}
      />
      <p id={fault} role="status" className="faint">
        {read === null && t.feeFault}
      </p>
      <fieldset className="choices">
        <legend className="hidden">{t.notation}</legend>
        {[false, true].map(comma => (
          <button key={String(comma)} type="button" aria-pressed={hasComma === comma} onClick={() => setComma(comma)}>
            {comma ? t.comma : t.point}
          </button>
        ))}
      </fieldset>
      {typed && <CopyBlock label={t.type} value={typed} shown={typed} action={t.copy} />}
      {amount && !isInCents(amount) && <p>{t.tooSmall}</p>}
      <p>{t.least(usdc(withdrawalOf(checkout.due, checkout.usdc_amount, '0.00')))}</p>
      <p>{t.time(exactMoment(checkout.expires_at))}</p>
    </div>
  )
}
