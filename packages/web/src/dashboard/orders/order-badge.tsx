import type { OrderStatus } from '@ponte/contracts'
import { Badge, type Tone } from '../elements/badge'
import { useWords } from '../texts/words'

const tones: Record<OrderStatus, Tone> = {
  pending: 'calm',
  confirming: 'wait',
  underpaid: 'warn',
  paid: 'good',
  expired: 'calm',
  cancelled: 'calm',
}

export function OrderBadge({ status }: { status: OrderStatus }) {
  const { t } = useWords()
  return <Badge tone={tones[status]}>{t.orders.statuses[status]}</Badge>
}
