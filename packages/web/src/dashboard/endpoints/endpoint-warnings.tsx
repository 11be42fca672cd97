import { Link } from 'wouter'
import { useWords } from '../texts'
import { useEndpointName, useEndpoints } from './use-endpoints'

const DAY_MS = 86_400_000

/** What a merchant must be shown: an endpoint that has been failing for a day, or events that were not delivered. */
export function EndpointWarnings() {
  const { t, moment } = useWords()
  const nameOf = useEndpointName()
  const lines = (useEndpoints().data ?? []).flatMap(endpoint => {
    const { id, failing_since: since, dead } = endpoint
    const isLong = since !== null && Date.now() - Date.parse(since) > DAY_MS
    return [
      ...(isLong ? [{ key: `${id} failing`, text: t.endpoints.warnDay(nameOf(endpoint), moment(since)) }] : []),
      ...(dead > 0 ? [{ key: `${id} dead`, text: `${t.endpoints.warnDead(nameOf(endpoint), dead)} ${t.endpoints.deadText}` }] : []),
    ]
  })
  if (lines.length === 0) return null
  return (
    <div role="status">
      {lines.map(({ key, text }) => (
        <p key={key} className="warning">
          {text} <Link href="/deliveries/endpoints">{t.endpoints.see}</Link>
        </p>
      ))}
    </div>
  )
}
