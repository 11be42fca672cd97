import { Button, Checkbox } from '@mantine/core'
import type { SubscriptionBody, UpdateSubscription } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { reaisFrom } from '../../reais'
import { api } from '../api/api'
import { Failure } from '../elements/states'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { ChoiceField, Field, labelled } from '../forms/field'
import { periods, type Rule } from '../forms/rules'
import { useWords } from '../texts/words'

interface OfSubscription {
  subscription: SubscriptionBody
  onDone(): void
}

/** Changes a plan that goes on, pauses it, and ends it with its period; each of them can be taken back. */
export function SubscriptionActions({ subscription, onDone }: OfSubscription) {
  const { t } = useWords()
  const { id, interval, paused_at, cancel_at } = subscription
  const update = useMutation({ mutationFn: (body: UpdateSubscription) => api.updateSubscription(id, body), onSettled: onDone })
  const isSent = (name: keyof UpdateSubscription) => update.isPending && update.variables[name] !== undefined
  return (
    <>
      {update.error && <Failure error={update.error} />}
      <div className="buttons">
        <DialogButton variant="default" title={t.subscriptions.change}>
          {close => <ChangeForm subscription={subscription} onDone={onDone} onClose={close} />}
        </DialogButton>
        <Button variant="default" loading={isSent('paused')} onClick={() => update.mutate({ paused: !paused_at })}>
          {paused_at ? t.subscriptions.resume : t.subscriptions.pause}
        </Button>
        {interval !== null && (
          <Button
            variant="default"
            loading={isSent('cancel_at_period_end')}
            onClick={() => update.mutate({ cancel_at_period_end: !cancel_at })}
          >
            {cancel_at ? t.subscriptions.goOn : t.subscriptions.endWithPeriod}
          </Button>
        )}
      </div>
    </>
  )
}

/** Fields that are as they were are not sent, so that a change by another member meanwhile stays. */
function ChangeForm({ subscription, onDone, onClose }: OfSubscription & { onClose(): void }) {
  const { t, language } = useWords()
  const { id, brl_amount, description, external_ref, max_periods, when_unpaid = 'pause' } = subscription
  const [appliesNow, setAppliesNow] = useState(false)
  const save = useMutation({
    mutationFn: (body: UpdateSubscription) => api.updateSubscription(id, body),
    onSuccess: () => {
      onDone()
      onClose()
    },
  })
  const isAmount: Rule = { fault: 'amount', holds: text => reaisFrom(text, language) !== null }
  const submit = (text: FieldText) => {
    const amount = reaisFrom(text('brl_amount'), language) ?? brl_amount
    const count = text('max_periods') === '' ? null : Number(text('max_periods'))
    const unpaid = text('when_unpaid') as typeof when_unpaid
    save.mutate({
      ...(amount === brl_amount ? {} : { brl_amount: amount }),
      ...(text('description') === (description ?? '') ? {} : { description: text('description') || null }),
      ...(text('external_ref') === (external_ref ?? '') ? {} : { external_ref: text('external_ref') || null }),
      ...(count === max_periods ? {} : { max_periods: count }),
      ...(unpaid === when_unpaid ? {} : { when_unpaid: unpaid }),
      ...(appliesNow ? { apply: 'now' } : {}),
    })
  }
  return (
    <CheckedForm
      rules={{ brl_amount: [isAmount], description: [], external_ref: [], max_periods: [periods] }}
      work={save}
      onSubmit={submit}
      verb={t.save}
      fullWidth
    >
      <Field
        name="brl_amount"
        label={t.orders.amount}
        inputMode="decimal"
        leftSection="R$"
        data-autofocus
        defaultValue={language === 'pt' ? brl_amount.replace('.', ',') : brl_amount}
      />
      <Field
        name="description"
        label={t.orders.description}
        description={t.orders.descriptionHint}
        maxLength={500}
        defaultValue={description ?? ''}
      />
      <Field name="external_ref" label={t.orders.reference} maxLength={255} defaultValue={external_ref ?? ''} />
      <Field
        name="max_periods"
        label={t.subscriptions.maxPeriods}
        description={t.subscriptions.maxHint}
        inputMode="numeric"
        defaultValue={max_periods ?? ''}
      />
      <ChoiceField
        name="when_unpaid"
        label={t.subscriptions.whenUnpaid}
        defaultValue={when_unpaid}
        data={labelled(t.subscriptions.whenUnpaidChoices)}
      />
      <Checkbox
        label={t.subscriptions.applyNow}
        description={t.subscriptions.applyHint}
        checked={appliesNow}
        onChange={event => setAppliesNow(event.currentTarget.checked)}
      />
    </CheckedForm>
  )
}
