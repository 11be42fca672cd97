import { z } from 'zod'

/** Fields that many schemas share. Shapes are the wire's: decimals are strings, timestamps ISO 8601 UTC with milliseconds. */

/** Lower case whatever the caller wrote, so that one resource has one name in keys, locks and answers. */
export const id = z.uuid().toLowerCase().meta({ description: 'UUIDv7', example: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90' })
export const memo = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters')
  .meta({ description: '64 hex characters; routes the payment to the order', example: 'a3'.repeat(32) })
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address of 20 bytes')
  .meta({ example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
export const email = z.email().max(254).meta({ example: 'ana@example.com' })
export const txHash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, 'must be a 0x transaction hash of 32 bytes')
  .meta({ example: `0x${'5b'.repeat(32)}` })
const TIMESTAMP_MIN = Date.parse('1970-01-01T00:00:00.000Z')
const TIMESTAMP_MAX = Date.parse('2999-12-31T23:59:59.999Z')
/** The database reads no more than about a hundred digits of a second. */
const TIMESTAMP_LENGTH_MAX = 40
/** Bounded, because the database, UUIDv7 and calendar arithmetic each end somewhere beyond. */
export const timestamp = z.iso
  .datetime()
  .refine(text => text.length <= TIMESTAMP_LENGTH_MAX, `must have at most ${TIMESTAMP_LENGTH_MAX} characters`)
  .refine(text => Date.parse(text) >= TIMESTAMP_MIN && Date.parse(text) <= TIMESTAMP_MAX, 'must lie between 1970 and 2999')
  .meta({ description: 'ISO 8601 UTC, from 1970 to 2999', example: '2026-11-20T12:00:00.000Z' })
export const usdcAmount = z
  .string()
  .regex(/^\d+\.\d{6}$/)
  .meta({ description: 'USDC, six decimals', example: '27.675277' })
/** An amount of USDC as a merchant writes it: a string, never a JSON number (docs/interface.md#conventions). */
export const usdcAmountInput = z
  .string({ error: 'must be a string such as "27.675277"' })
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be USDC with at most six decimals, for example "27.675277"')
export const rate = z
  .string()
  .regex(/^\d+\.\d{6}$/)
  .meta({ description: 'BRL per USDC', example: '5.420000' })

/** An amount of reais as a merchant writes it: a string above zero, never a JSON number (docs/interface.md#conventions). */
export const brlAmountInput = z
  .string({
    error: issue =>
      typeof issue.input === 'number' ? 'send the amount as a string, for example "150.00"' : 'must be a string such as "150.00"',
  })
  .regex(/^\d{1,10}(\.\d{1,2})?$/, 'must be reais with at most two decimals, for example "150.00"')
  .refine(text => /[1-9]/.test(text), 'must be above zero')
  .meta({ description: 'BRL, as a string', example: '150.00' })
export const brlAmount = z
  .string()
  .regex(/^\d{1,10}\.\d{2}$/)
  .meta({ description: 'BRL, two decimals', example: '150.00' })

/** PostgreSQL text cannot hold NUL, and half a surrogate pair is not text: both are refused at the door. */
export const text = (max: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    .refine(value => !value.includes('\0'), 'must not contain NUL')
    .refine(value => value.isWellFormed(), 'must be well-formed Unicode')

export const externalRef = text(255).meta({ description: 'Your own reference', example: 'INV-7' })
export const description = text(500).meta({ example: 'Consulting, November' })
const metadataValue = z
  .string()
  .max(500)
  .refine(value => !value.includes('\0') && value.isWellFormed(), 'must be well-formed text without NUL')
const metadataOf = <T extends z.ZodType>(value: T) =>
  z.record(text(40), value).refine(pairs => Object.keys(pairs).length <= 20, 'must have at most 20 keys')

// A record drops the key `__proto__` without a word, so it is refused before.
const withoutProto = (value: unknown, context: z.RefinementCtx): unknown => {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
    context.addIssue({ code: 'custom', message: 'must not have a key __proto__' })
  return value
}
export const metadata = z
  .preprocess(withoutProto, metadataOf(metadataValue))
  .meta({ description: 'Up to 20 string pairs', example: { customer: '42' } })
export const metadataChange = z
  .preprocess(withoutProto, metadataOf(metadataValue.nullable()))
  .meta({ description: 'Merged by key; null removes one', example: { customer: '42' } })

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable characters')
