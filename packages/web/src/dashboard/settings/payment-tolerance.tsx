import { Button, TextInput } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { shortDecimal } from '../../asked-amount'
import { usdcFrom } from '../../reais'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import type { Rule } from '../forms/rules'
import { useWords } from '../texts/words'
import { useMerchantSaved } from './merchant-saved'

/** By how much an order may be short and still count as paid. The right to change it is that of the payout address. */
export function PaymentTolerance({ merchant }: { merchant: MerchantBody }) {
  const { t, language } = useWords()
  const saved = useMerchantSaved()
  const mayChange = useMay('signPayoutChange')
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: saved })
  const amountOf = (text: string) => (/^0+([.,]0{1,6})?$/.test(text) ? '0' : usdcFrom(text, language))
  const isTolerance: Rule = { fault: 'tolerance', holds: text => text === '' || amountOf(text) !== null }
  const chosen = merchant.payment_tolerance ?? null
  const local = (decimal: string) => (language === 'pt' ? decimal.replace('.', ',') : decimal)
  return (
    <Card title={t.tolerance.title}>
      <CheckedForm
        rules={{ payment_tolerance: [isTolerance] }}
        error={update.error}
        onSubmit={text =>
          update.mutate({ payment_tolerance: text('payment_tolerance') === '' ? null : amountOf(text('payment_tolerance')) })
        }
        isReadOnly={!mayChange}
        action={
          mayChange && (
            <Button type="submit" loading={update.isPending}>
              {t.tolerance.save}
            </Button>
          )
        }
      >
        {faultOf => (
          <TextInput
            name="payment_tolerance"
            label={t.tolerance.label}
            description={t.tolerance.hint}
            defaultValue={chosen === null ? '' : local(shortDecimal(chosen))}
            placeholder={local('0.01')}
            inputMode="decimal"
            autoComplete="off"
            maxLength={20}
            error={faultOf('payment_tolerance')}
          />
        )}
      </CheckedForm>
      <div role="status">{update.isSuccess && <p className="done">{t.saved}</p>}</div>
    </Card>
  )
}
