import { Button, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from './api'
import { brlFrom } from './new-order'
import { Failure } from './parts/states'
import { useWords } from './words'

const INTERVALS = ['month', 'week', 'day', 'year'] as const

export function NewSubscription({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { t } = useWords()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.subscriptions.fresh}
      lockScroll={false}
      closeButtonProps={{ 'aria-label': t.close }}
      centered
    >
      {opened && <SubscriptionForm />}
    </Modal>
  )
}

function SubscriptionForm() {
  const { t } = useWords()
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  const [key] = useState(() => crypto.randomUUID())
  const create = useMutation({
    mutationFn: (body: object) => api.createSubscription(body, key),
    onSuccess: subscription => {
      void queries.invalidateQueries({ queryKey: ['subscriptions'] })
      navigate(`/subscriptions/${subscription.id}`)
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name)).trim()
    create.mutate({
      brl_amount: brlFrom(text('brl_amount')),
      external_ref: text('external_ref') || null,
      description: text('description') || null,
      interval: text('interval') || null,
      max_periods: text('max_periods') ? Number(text('max_periods')) : null,
    })
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        name="brl_amount"
        label={t.orders.amount}
        description={t.orders.amountHint}
        inputMode="decimal"
        leftSection="R$"
        autoComplete="off"
        required
        withAsterisk={false}
        data-autofocus
      />
      <NativeSelect
        name="interval"
        label={t.subscriptions.interval}
        data={[
          ...INTERVALS.map(value => ({ value, label: t.subscriptions.intervals[value] })),
          { value: '', label: t.subscriptions.manual },
        ]}
      />
      <TextInput
        name="max_periods"
        label={t.subscriptions.maxPeriods}
        description={t.subscriptions.maxHint}
        inputMode="numeric"
        pattern="[1-9][0-9]{0,4}"
        autoComplete="off"
      />
      <TextInput name="description" label={t.orders.description} maxLength={500} autoComplete="off" />
      <TextInput name="external_ref" label={t.orders.reference} maxLength={255} autoComplete="off" />
      {create.error && <Failure error={create.error} />}
      <Button type="submit" loading={create.isPending} fullWidth>
        {t.subscriptions.create}
      </Button>
    </form>
  )
}
