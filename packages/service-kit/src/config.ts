import { MODES } from '@ponte/contracts'
import { z } from 'zod'

/** Names every fault of the environment in one message, and never a value: a value may be a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Reads settings from the environment through a zod schema. Empty variables count as absent. Throws ConfigError. */
export function readConfig<T extends z.ZodType>(schema: T, env: Record<string, string | undefined>): z.infer<T> {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const faults = result.error.issues.map(issue => `  ${issue.path.join('.') || '(settings)'}: ${issue.message}`)
  throw new ConfigError(`These settings are missing or wrong:\n${faults.join('\n')}\nThe service's README lists every setting.`)
}

/** A whole number in an environment variable. */
export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine(n => n >= min && n <= max, `must be between ${min} and ${max}`)

/** A comma-separated list in an environment variable. */
export const list = z.string().transform(text =>
  text
    .split(',')
    .map(item => item.trim())
    .filter(Boolean),
)

/** A secret: at least 32 characters, so that `changeme` is never deployed. */
export const secret = z.string().min(32, 'must have at least 32 characters; make one with: openssl rand -hex 32')

/**
 * Secrets that change while processes run: comma-separated, the first is used and each is accepted. From `old` to `old,new`, to `new,old`, to `new`, each
 * step rolled out to both sides in any order.
 */
export const secrets = list.pipe(z.array(secret).min(1, 'names no secret'))

/** Keys of `seal`, in the same way. */
export const sealKeys = list.pipe(
  z.array(z.string().regex(/^[0-9a-f]{64}$/i, 'must be 64 hex characters; make one with: openssl rand -hex 32')).min(1, 'names no key'),
)

/** Settings that every service has. */
export const commonSettings = {
  /** Where this service's own database is. */
  DATABASE_URL: z.string().startsWith('postgres', 'must be a postgres:// URL'),
  /** Whether each start applies missing migrations. When it does not, a process whose database lacks some refuses to start. */
  MIGRATE_ON_START: z
    .enum(['true', 'false'])
    .default('true')
    .transform(text => text === 'true'),
  /** Another role of the same database that owns the tables and migrates them; DATABASE_URL's role may then only read and write rows. */
  MIGRATE_DATABASE_URL: z.string().startsWith('postgres', 'must be a postgres:// URL').optional(),
  /** Connections this process may hold to its database. */
  DATABASE_POOL: integer(2, 200).default(10),
  /** The RabbitMQ broker. */
  AMQP_URL: z.string().startsWith('amqp', 'must be an amqp:// URL'),
  /** Prefix of exchange and queue names, so that several systems can share one broker. */
  AMQP_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .default('ponte'),
  /** Age of published events that are kept, to be published again for another service whose database was restored; and of received ones that are known. */
  OUTBOX_DAYS: integer(7, 365).default(7),
  INBOX_DAYS: integer(8, 365).default(30),
  /** Address that HTTP listens on. */
  HOST: z.string().default('0.0.0.0'),
  /** Port of the service's own routes. */
  PORT: integer(0, 65_535).default(8080),
  /** Port of health, readiness and metrics; never published. */
  OPS_PORT: integer(0, 65_535).default(9090),
  /** Time in which a stopping process still serves, not ready any more, while its callers find another replica. */
  LAME_DUCK_MS: integer(0, 10_000).default(5_000),
  /** A process whose event loop stands still for so long is ended by a thread of its own; 0 for a debugger. */
  STUCK_AFTER_S: integer(0, 600).default(10),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug']).default('info'),
  /** Where traces go, as OTLP over HTTP: `http://collector:4318/v1/traces`. Absent: nowhere. */
  TRACES_URL: z.url({ protocol: /^https?$/ }).optional(),
  NODE_ENV: z.string().default('production'),
  /** `test` on a chain whose money is worth nothing, `development` on a developer's own; the same in every service. */
  PONTE_MODE: z.enum(MODES).default('live'),
}
