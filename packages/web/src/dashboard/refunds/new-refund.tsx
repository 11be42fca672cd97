import { Button, Textarea, TextInput } from '@mantine/core'
import type { RefundListBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { shortDecimal } from '../../asked-amount'
import { usdcFrom } from '../../reais'
import { api } from '../api/api'
import { CheckedForm } from '../forms/checked-form'
import { Dialog } from '../forms/dialog'
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
  const [isAsked, setAsked] = useState(false)
  const title = of.byLink ? t.refunds.askByLink : t.refunds.fresh
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {title}
      </Button>
      <Dialog title={title} opened={isAsked} onClose={() => setAsked(false)}>
        <RefundForm {...of} onClose={() => setAsked(false)} />
      </Dialog>
    </>
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
      error={work.error}
      onSubmit={text =>
        work.mutate({
          amount: usdcFrom(text('amount'), language),
          reason: text('reason'),
          ...(text('payee_address') === '' ? {} : { payee_address: text('payee_address') }),
          ...(text('email') === '' ? {} : { email: text('email') }),
        })
      }
      action={
        <Button type="submit" loading={work.isPending}>
          {t.refunds.create}
        </Button>
      }
    >
      {faultOf => (
        <>
          <p>
            {t.refunds.most(usdc(found.returnable))} {parseUsdc(found.platform_fee) > 0n && t.refunds.fee(usdc(found.platform_fee))}
          </p>
          <TextInput
            name="amount"
            label={t.refunds.amount}
            defaultValue={language === 'pt' ? typed.replace('.', ',') : typed}
            inputMode="decimal"
            autoComplete="off"
            maxLength={30}
            error={faultOf('amount')}
          />
          {byLink ? (
            <>
              <p>{t.refunds.askHint}</p>
              <TextInput
                name="email"
                type="email"
                label={t.refunds.email}
                description={t.refunds.emailHint}
                autoComplete="off"
                spellCheck={false}
                maxLength={254}
                error={faultOf('email')}
              />
            </>
          ) : (
            <TextInput
              name="payee_address"
              label={t.refunds.payee}
              description={t.refunds.payeeHint}
              placeholder="0x"
              autoComplete="off"
              spellCheck={false}
              maxLength={42}
              error={faultOf('payee_address')}
              data-autofocus
            />
          )}
          <Textarea name="reason" label={t.refunds.reason} maxLength={500} error={faultOf('reason')} />
        </>
      )}
    </CheckedForm>
  )
}
