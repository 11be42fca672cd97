import type { DeliveryBody } from '@ponte/contracts'
import { useWords } from '../words'
import { Badge } from './states'
import { deliveryTone } from './tones'

/** A delivery that waits after a failure is failing, whatever its queue calls it. */
export function DeliveryBadge({ delivery }: { delivery: Pick<DeliveryBody, 'status' | 'attempts'> }) {
  const { t } = useWords()
  const failing = delivery.status === 'pending' && delivery.attempts > 0
  return <Badge tone={deliveryTone(delivery)}>{failing ? t.deliveries.retrying : t.deliveries.statuses[delivery.status]}</Badge>
}
