import { TextInput } from '@mantine/core'
import type { AttentionItemBody } from '@ponte/contracts'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { CheckedForm } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { ChoiceField, LongField } from '../forms/field'
import { required } from '../forms/rules'
import { titleOf } from '../orders/order-title'
import { useWords } from '../texts/words'

const OFFERED = '10'

interface AttachPaymentProps {
  item: AttentionItemBody
  onDone(): void
}

/** The merchant's word that a payment which named no order is for this one. */
export function AttachPayment(of: AttachPaymentProps) {
  const { t } = useWords()
  return (
    <DialogButton size="compact-sm" title={t.attention.acts.attach}>
      {close => <Choice {...of} onClose={close} />}
    </DialogButton>
  )
}

function Choice({ item, onDone, onClose }: AttachPaymentProps & { onClose(): void }) {
  const { t, brl, usdc } = useWords()
  const [text, setText] = useState(item.payment?.reason === 'wrong_chain' ? item.payment.memo : '')
  const found = useQuery({
    queryKey: ['orders', 'to attach', text],
    queryFn: () => api.orders({ limit: OFFERED, ...(text.trim() === '' ? {} : { text: text.trim() }) }),
    placeholderData: keepPreviousData,
  })
  const open = found.data?.data.filter(({ status }) => status !== 'paid') ?? []
  // The list moves while it is open: a place in it would name another order.
  const [chosen, setChosen] = useState('')
  const work = useMutation({
    mutationFn: ({ order, reason }: { order: string; reason: string }) => api.attachPayment(item.id, order, reason),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  return (
    <CheckedForm
      rules={{ order_id: [required], reason: [required] }}
      work={work}
      onSubmit={read => work.mutate({ order: read('order_id'), reason: read('reason') })}
      verb={t.attention.acts.attach}
      onCancel={onClose}
    >
      <p>{t.attention.attachSure(usdc(item.gross))}</p>
      <TextInput label={t.attention.findOrder} value={text} onChange={event => setText(event.currentTarget.value)} data-autofocus />
      <ChoiceField
        name="order_id"
        label={t.attention.order}
        value={open.some(({ id }) => id === chosen) ? chosen : ''}
        onChange={event => setChosen(event.currentTarget.value)}
        data={[
          { value: '', label: open.length === 0 ? t.attention.noneOpen : t.attention.chooseOrder },
          ...open.map(order => ({
            value: order.id,
            label: `${titleOf(order)} · ${brl(order.brl_amount)} · ${t.orders.statuses[order.status]}`,
          })),
        ]}
      />
      <LongField name="reason" label={t.attention.reason} maxLength={500} />
    </CheckedForm>
  )
}
