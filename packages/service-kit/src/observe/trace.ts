import {
  type Attributes,
  type Context,
  context,
  isValidTraceId,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace-base'
import { redact } from './logger'

/**
 * Following one thing through all services: the trace goes from an HTTP request into the events that its commit writes, over the bus into the
 * reactions, and on. Without `startTracing` all of this does nothing and costs nothing.
 */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/
const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

export interface SpanOptions {
  kind?: keyof typeof kinds
  /** A W3C traceparent from elsewhere; without it the span belongs to whatever is being done now. */
  parent?: string | null | undefined
  attributes?: Attributes
}

/** The present span as a W3C traceparent for an event or a request; null when nothing is traced. */
export const currentTraceparent = (): string | null => traceparentOf(trace.getActiveSpan())

export function currentTraceId(): { trace_id?: string } {
  const traceId = trace.getActiveSpan()?.spanContext().traceId
  return traceId !== undefined && isValidTraceId(traceId) ? { trace_id: traceId } : {}
}

/** The header that carries the trace to another of our services; never sent to anyone else. */
export function traceHeaders(): Record<string, string> {
  const traceparent = currentTraceparent()
  return traceparent ? { traceparent } : {}
}

/** Runs `work` inside a span that ends with it; a failure is marked and passed on. */
export async function withSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  const span = openSpan(name, options)
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span))
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** A span that is over at once, for something that has just been decided; answers its traceparent. */
export function markSpan(name: string, options: SpanOptions): string | null {
  const span = openSpan(name, options)
  span.end()
  return traceparentOf(span)
}

/** A span whose end the caller sees to, and the context in which it is the current one. */
export function openSpan(name: string, { kind = 'internal', parent, attributes }: SpanOptions): Span {
  return trace.getTracer('ponte').startSpan(name, { kind: kinds[kind], ...(attributes ? { attributes } : {}) }, contextOf(parent))
}

/** Marks a span as failed, with a message that holds no secret. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: String(redact(error instanceof Error ? error.message : String(error))) })
}

export const insideSpan = <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work)

function traceparentOf(span: Span | undefined): string | null {
  const at = span?.spanContext()
  if (!at || !trace.isSpanContextValid(at)) return null
  return `00-${at.traceId}-${at.spanId}-${at.traceFlags.toString(16).padStart(2, '0')}`
}

function contextOf(parent: string | null | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? []
  if (!traceId || !spanId || !flags) return context.active()
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** A part of the process, as far as it is known here. */
interface Tracing {
  name: string
  stop(): Promise<void>
}

/**
 * Starts tracing in this process. With a `url` (OTLP over HTTP, as `http://collector:4318/v1/traces`) spans are exported; without one they only
 * give logs and events their ids. Its stop sends what is left.
 */
export async function startTracing(options: { service: string; url?: string | undefined; exporter?: SpanExporter }): Promise<Tracing> {
  const [{ AsyncLocalStorageContextManager }, { resourceFromAttributes }, sdk] = await Promise.all([
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
  ])
  const exporter = options.url
    ? new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter({ url: options.url })
    : undefined
  const spanProcessors = [
    ...(exporter ? [new sdk.BatchSpanProcessor(exporter)] : []),
    ...(options.exporter ? [new sdk.SimpleSpanProcessor(options.exporter)] : []),
  ]
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.service }),
    spanProcessors,
    // A span that goes nowhere need not remember anything but its ids.
    ...(spanProcessors.length === 0 ? { sampler: new sdk.AlwaysOffSampler() } : {}),
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    name: 'tracing',
    async stop() {
      await provider.shutdown()
      trace.disable()
      context.disable()
    },
  }
}

export type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
