import { Button, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from './api'
import { Failure } from './parts/states'
import { useWords } from './words'

const MINUTES = [15, 30]
const HOURS = [1, 24, 72]

/** Reais as people write them, `1.500,50` or `1500.50`, to the wire's form. */
export function brlFrom(text: string): string {
  const plain = text.replace(/[R$\s]/g, '')
  return /,\d{1,2}$/.test(plain) ? plain.replaceAll('.', '').replace(',', '.') : plain.replaceAll(',', '')
}

export function NewOrder({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { t } = useWords()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.orders.fresh}
      lockScroll={false}
      closeButtonProps={{ 'aria-label': t.close }}
      centered
    >
      {opened && <OrderForm />}
    </Modal>
  )
}

function OrderForm() {
  const { t } = useWords()
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  // One form is one order, however often its button is pressed.
  const [key] = useState(() => crypto.randomUUID())
  const create = useMutation({
    mutationFn: (body: object) => api.createOrder(body, key),
    onSuccess: order => {
      void queries.invalidateQueries({ queryKey: ['orders'] })
      navigate(`/orders/${order.id}`)
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
      expires_in: Number(text('expires_in')),
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
      <TextInput name="description" label={t.orders.description} maxLength={500} autoComplete="off" />
      <TextInput name="external_ref" label={t.orders.reference} maxLength={255} autoComplete="off" />
      <NativeSelect
        name="expires_in"
        label={t.orders.expiresIn}
        defaultValue="1800"
        data={[
          ...MINUTES.map(count => ({ value: String(count * 60), label: t.orders.minutes(count) })),
          ...HOURS.map(count => ({ value: String(count * 3600), label: t.orders.hours(count) })),
        ]}
      />
      {create.error && <Failure error={create.error} />}
      <Button type="submit" loading={create.isPending} fullWidth>
        {t.orders.create}
      </Button>
    </form>
  )
}
