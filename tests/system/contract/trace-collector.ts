import { json } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'

/** OTLP's JSON. */
interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { spans: OtlpSpan[] }[]
  }[]
}
interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number }
}
interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: Attribute[]
}

export interface Span {
  traceId: string
  id: string
  parentId: string | undefined
  service: string
  name: string
  startMs: number
  tookMs: number
  attributes: Record<string, string | number | undefined>
}

/** A collector as operators run one: it takes the spans of every service over OTLP and keeps them. */
export async function startTraceCollector() {
  const spans: Span[] = []
  const { url, stop } = await startHttpServer(async (req, res) => {
    const { resourceSpans } = (await json(req)) as Exported
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(named(resource.attributes)['service.name'])
      for (const span of scopeSpans.flatMap(scope => scope.spans)) spans.push(toSpan(span, service))
    }
    res.setHeader('Content-Type', 'application/json').end('{}')
  })
  return { url: `${url}/v1/traces`, spans, stop }
}

const named = (attributes: Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))

function toSpan(span: OtlpSpan, service: string): Span {
  const startMs = Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000
  return {
    traceId: span.traceId,
    id: span.spanId,
    parentId: span.parentSpanId || undefined,
    service,
    name: span.name,
    startMs,
    tookMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000 - startMs,
    attributes: named(span.attributes),
  }
}

/** One trace, each span under its parent, in order of time; milliseconds since the trace began, and how long it took. */
export function traceTree(spans: readonly Span[], traceId: string): string {
  const mine = spans.filter(span => span.traceId === traceId).sort((a, b) => a.startMs - b.startMs)
  const start = mine[0]?.startMs ?? 0
  const known = new Set(mine.map(span => span.id))
  const under = (parentId: string | undefined, indent: string): string[] =>
    mine
      .filter(span => (parentId === undefined ? !known.has(span.parentId ?? '') : span.parentId === parentId))
      .flatMap(span => {
        const title = `${indent}${span.name.startsWith(`${span.service} `) ? '' : `${span.service}: `}${span.name}`
        const line = `${title.padEnd(72)} +${(span.startMs - start).toFixed(0)} ms  ${span.tookMs.toFixed(1)} ms`
        return [line, ...under(span.id, `${indent}  `)]
      })
  return under(undefined, '').join('\n')
}
