import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { shortDecimal } from '../../asked-amount'
import { usdcFrom } from '../../reais'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import { Field } from '../forms/field'
import type { Rule } from '../forms/rules'
import { useWords } from '../texts/words'
import { useMerchantSaved } from './merchant-saved'

interface ChosenAmountProps {
  merchant: MerchantBody
  name: 'payment_tolerance' | 'refund_approval_above'
  words: { title: string; label: string; hint: string; save: string }
  /** Shown while nothing is chosen. */
  example: string
}

/** By how much an order may be short and still count as paid. */
export function PaymentTolerance({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  return <ChosenAmount merchant={merchant} name="payment_tolerance" words={t.tolerance} example="0.01" />
}

/** The sum above which the refunds of an order take two members. */
export function RefundApproval({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  return <ChosenAmount merchant={merchant} name="refund_approval_above" words={t.approval} example="500.00" />
}

/** An amount of USDC, nothing or zero. The right to change it is that of the payout address. */
function ChosenAmount({ merchant, name, words, example }: ChosenAmountProps) {
  const { t, language } = useWords()
  const saved = useMerchantSaved()
  const mayChange = useMay('signPayoutChange')
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: saved })
  const amountOf = (text: string) => (/^0+([.,]0{1,6})?$/.test(text) ? '0' : usdcFrom(text, language))
  const isAmount: Rule = { fault: 'tolerance', holds: text => text === '' || amountOf(text) !== null }
  const chosen = merchant[name] ?? null
  const local = (decimal: string) => (language === 'pt' ? decimal.replace('.', ',') : decimal)
  return (
    <Card title={words.title}>
      <CheckedForm
        rules={{ [name]: [isAmount] }}
        work={update}
        onSubmit={text => update.mutate({ [name]: text(name) === '' ? null : amountOf(text(name)) })}
        isReadOnly={!mayChange}
        verb={words.save}
      >
        <Field
          name={name}
          label={words.label}
          description={words.hint}
          defaultValue={chosen === null ? '' : local(shortDecimal(chosen))}
          placeholder={local(example)}
          inputMode="decimal"
          maxLength={20}
        />
      </CheckedForm>
      <div role="status">{update.isSuccess && <p className="done">{t.saved}</p>}</div>
    </Card>
  )
}
