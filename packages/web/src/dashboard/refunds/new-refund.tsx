import type { RefundListBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { shortDecimal } from '../../asked-amount'
import { usdcFrom } from '../../reais'
import { api } from '../api/api'
import { CheckedForm } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { Field, LongField } from '../forms/field'
import { optionalAddress, optionalEmail, type Rule, required } from '../forms/rules'
import { useWords } from '../texts/words'

interface NewRefundProps {
  orderId: string
  found: RefundListBody
  byLink: boolean
  onDone(): void
}

/** Asks how much of an order's money goes back, why, and to whom, where the payer is not asked for that by a link. */
export function NewRefund(of: NewRefundProps) {
  const { t } = useWords()
  return (
    <DialogButton variant="default" title={of.byLink ? t.refunds.askByLink : t.refunds.fresh}>
      {close => <RefundForm {...of} onClose={close} />}
    </DialogButton>
  )
}

const isMailed: Rule = { fault: 'payerEmail', holds: () => true }
/** The service's refusal of an address is about whose it is. */
const isPayers: Rule = { fault: 'payee', holds: () => true }

function RefundForm({ orderId, found, byLink, onDone, onClose }: NewRefundProps & { onClose(): void }) {
  const { t, usdc, language } = useWords()
  // One form is one refund, however often its button is pressed.
  const [key] = useState(() => crypto.randomUUID())
  const work = useMutation({
    mutationFn: (body: object): Promise<unknown> => (byLink ? api.createRefundClaim : api.createRefund)(orderId, body, key),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const most = parseUsdc(found.returnable)
  const isAmount: Rule = {
    fault: 'usdcAmount',
    holds: text => {
      const amount = usdcFrom(text, language)
      return amount !== null && parseUsdc(amount) <= most
    },
  }
  const typed = shortDecimal(parseUsdc(found.surplus) > 0n ? found.surplus : found.returnable)
  return (
    <CheckedForm
      rules={{ amount: [isAmount], payee_address: [optionalAddress, isPayers], email: [optionalEmail, isMailed], reason: [required] }}
      work={work}
      onSubmit={text =>
        work.mutate({
          amount: usdcFrom(text('amount'), language),
          reason: text('reason'),
          ...(text('payee_address') === '' ? {} : { payee_address: text('payee_address') }),
          ...(text('email') === '' ? {} : { email: text('email') }),
        })
      }
      verb={t.refunds.create}
    >
      <p>
        {t.refunds.most(usdc(found.returnable))} {parseUsdc(found.platform_fee) > 0n && t.refunds.fee(usdc(found.platform_fee))}
      </p>
      <Field
        name="amount"
        label={t.refunds.amount}
        defaultValue={language === 'pt' ? typed.replace('.', ',') : typed}
        inputMode="decimal"
        maxLength={30}
      />
      {byLink ? (
        <>
          <p>{t.refunds.askHint}</p>
          <Field name="email" type="email" label={t.refunds.email} description={t.refunds.emailHint} spellCheck={false} maxLength={254} />
        </>
      ) : (
        <Field
          name="payee_address"
          label={t.refunds.payee}
          description={t.refunds.payeeHint}
          placeholder="0x"
          spellCheck={false}
          maxLength={42}
          data-autofocus
        />
      )}
      <LongField name="reason" label={t.refunds.reason} maxLength={500} />
    </CheckedForm>
  )
}
