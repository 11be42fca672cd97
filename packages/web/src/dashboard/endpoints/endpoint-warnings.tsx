import { Link } from 'wouter'
import { useWords } from '../texts/words'
import { endpointWarnings } from './endpoint-warning'
import { useEndpointName, useEndpoints } from './use-endpoints'

export function EndpointWarnings() {
  const { t, moment } = useWords()
  const nameOf = useEndpointName()
  const lines = (useEndpoints().data ?? []).flatMap(endpoint =>
    endpointWarnings(endpoint, nameOf(endpoint), { wording: t.endpoints, moment, nowMs: Date.now() }),
  )
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
