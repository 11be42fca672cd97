import type { OrderBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/api'
import { CheckedForm } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { LongField } from '../forms/field'
import { required } from '../forms/rules'
import { useWords } from '../texts/words'

interface AcceptOrderProps {
  order: OrderBody
  /** What is confirmed, platform fee included. */
  gross: string
  onDone(): void
}

/** The merchant's word that what came pays the order, with what it gives away and why. */
export function AcceptOrder(of: AcceptOrderProps) {
  const { t } = useWords()
  return (
    <DialogButton size="compact-sm" title={t.attention.accept}>
      {close => <Reason {...of} onClose={close} />}
    </DialogButton>
  )
}

function Reason({ order, gross, onDone, onClose }: AcceptOrderProps & { onClose(): void }) {
  const { t, brl, usdc } = useWords()
  const work = useMutation({
    mutationFn: (reason: string) => api.acceptOrder(order.id, reason),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const missing = parseUsdc(order.usdc_amount) - parseUsdc(gross)
  return (
    <CheckedForm
      rules={{ reason: [required] }}
      work={work}
      onSubmit={text => work.mutate(text('reason'))}
      verb={t.attention.accept}
      onCancel={onClose}
    >
      <p>{t.attention.acceptSure(usdc(gross), brl(order.brl_amount))}</p>
      {missing > 0n && <p>{t.attention.givesAway(usdc(formatUsdc(missing)))}</p>}
      <LongField name="reason" label={t.attention.reason} maxLength={500} data-autofocus />
    </CheckedForm>
  )
}
