import { trace } from '@opentelemetry/api'
import winston from 'winston'
import { logFields } from './log-fields'

export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  debug(message: string, fields?: Record<string, unknown>): void
  child(fields: Record<string, unknown>): Logger
}

/** Keys whose values never reach a log, at any depth. */
const SECRET_KEY = /authorization|api_?key|secret|password|token$|private_?key|signature|cookie|^apikey$/i
/** Secrets inside free text: API keys, bearer tokens, credentials in URLs. */
const SECRET_TEXT: readonly [RegExp, string][] = [
  [/sk_live_[0-9a-f]+/g, 'sk_live_[redacted]'],
  [/Bearer\s+[^\s"']+/gi, 'Bearer [redacted]'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[redacted jwt]'],
  [/:\/\/[^/\s:@]+:[^/\s@]+@/g, '://[redacted]@'],
]

const LEVELS = ['error', 'warn', 'info', 'debug'] as const
const DEPTH_MAX = 6
const ITEMS_MAX = 200

/** One JSON line per message, with secrets removed. `silent` is for tests that do not look at logs. */
export function createLogger(options: { service: string; level?: string; silent?: boolean }): Logger {
  const level = options.level ?? 'info'
  const logger = winston.createLogger({
    level,
    silent: options.silent ?? false,
    defaultMeta: { service: options.service },
    format: winston.format.combine(
      winston.format.timestamp(),
      winston.format(withWhatIsDone)(),
      winston.format(info => redact(info) as winston.Logform.TransformableInfo)(),
      winston.format.json(),
    ),
    transports: [new winston.transports.Console()],
  })
  // Winston formats a line before it asks whether anyone wants it, which costs every request its debug line.
  for (const name of LEVELS) if (!logger.isLevelEnabled(name)) logger[name] = () => logger
  return logger
}

/** Adds whose request or event a line belongs to, and its trace. The line's own fields win. */
function withWhatIsDone(info: winston.Logform.TransformableInfo): winston.Logform.TransformableInfo {
  for (const [name, value] of Object.entries(logFields())) info[name] ??= value
  const span = trace.getActiveSpan()?.spanContext()
  if (span) info.trace_id ??= span.traceId
  return info
}

/** A copy in which no secret is readable; Errors become their text, bigints decimal strings. Depth and cycles are bounded. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return SECRET_TEXT.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), value)
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Error) {
    const code = 'code' in value && typeof value.code === 'string' ? { code: value.code } : {}
    return {
      message: redact(value.message),
      stack: redact(value.stack),
      ...code,
      ...(value.cause && depth < DEPTH_MAX ? { cause: redact(value.cause, depth + 1) } : {}),
      ...(value instanceof AggregateError && depth < DEPTH_MAX ? { errors: redact(value.errors, depth + 1) } : {}),
    }
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (depth > DEPTH_MAX) return '[too deep]'
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map(item => redact(item, depth + 1))
  const copy: Record<string | symbol, unknown> = {}
  for (const key of Reflect.ownKeys(value).slice(0, ITEMS_MAX)) {
    const item = Reflect.get(value, key)
    // Winston keeps level and message under symbols too; they travel with the copy.
    copy[key] = typeof key === 'string' && SECRET_KEY.test(key) ? '[redacted]' : redact(item, depth + 1)
  }
  return copy
}

export const silentLogger: Logger = createLogger({ service: 'silent', silent: true })
