import type { DeliveryBody } from '@ponte/contracts'
import { Badge, type Tone } from '../elements/badge'
import { useWords } from '../texts/words'

type Attempted = Pick<DeliveryBody, 'status' | 'attempts'>

/** A delivery that waits after a failed attempt is failing; one that waits for its first attempt is not. */
export function DeliveryBadge({ delivery }: { delivery: Attempted }) {
  const { t } = useWords()
  const isFailing = delivery.status === 'pending' && delivery.attempts > 0
  return <Badge tone={toneOf(delivery)}>{isFailing ? t.deliveries.retrying : t.deliveries.statuses[delivery.status]}</Badge>
}

function toneOf({ status, attempts }: Attempted): Tone {
  if (status === 'delivered') return 'good'
  if (status === 'dead') return 'bad'
  return attempts > 0 ? 'warn' : 'wait'
}
