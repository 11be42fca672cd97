import type { WebhookEndpointBody } from '@ponte/contracts'
import type { Texts } from '../texts/pt'

type Wording = Pick<Texts['endpoints'], 'warnDay' | 'warnDead' | 'deadText'>

interface EndpointWarning {
  key: string
  text: string
}

const DAY_MS = 86_400_000

/** Shown to a merchant: an endpoint that has been failing for a day, or events that were not delivered. */
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
