import type { SubscriptionBody } from '@ponte/contracts'
import { Badge, type Tone } from '../elements/badge'
import { useWords } from '../texts/words'

const tones: Record<SubscriptionBody['status'], Tone> = {
  active: 'good',
  past_due: 'warn',
  cancelled: 'calm',
  expired: 'calm',
}

export function SubscriptionBadge({ status }: { status: SubscriptionBody['status'] }) {
  const { t } = useWords()
  return <Badge tone={tones[status]}>{t.subscriptions.statuses[status]}</Badge>
}
