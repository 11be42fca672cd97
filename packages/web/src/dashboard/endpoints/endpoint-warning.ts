import type { WebhookEndpointBody } from '@ponte/contracts'
import type { Texts } from '../texts'

type Wording = Pick<Texts['endpoints'], 'warnDay' | 'warnDead' | 'deadText'>

interface EndpointWarning {
  key: string
  text: string
}

const DAY_MS = 86_400_000

/** What a merchant must be shown of an endpoint: that it has been failing for a day, or that events were not delivered. */
export function endpointWarnings(
  { id, failing_since: since, dead }: Pick<WebhookEndpointBody, 'id' | 'failing_since' | 'dead'>,
  name: string,
  { wording, moment, nowMs }: { wording: Wording; moment: (at: string) => string; nowMs: number },
): EndpointWarning[] {
  const isLong = since !== null && nowMs - Date.parse(since) > DAY_MS
  return [
    ...(isLong ? [{ key: `${id} failing`, text: wording.warnDay(name, moment(since)) }] : []),
    ...(dead > 0 ? [{ key: `${id} dead`, text: `${wording.warnDead(name, dead)} ${wording.deadText}` }] : []),
  ]
}
