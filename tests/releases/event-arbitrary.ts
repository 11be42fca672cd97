import { type Event, type EventType, eventTable, parseEvent } from '@ponte/contracts'
import fc from 'fast-check'

/** As much of JSON Schema as events use. */
export interface Schema {
  $ref?: string
  $defs?: Record<string, Schema>
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  maxItems?: number
  minItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
}

const dataSchemaOf = (type: EventType): Schema => eventTable[type].toJSONSchema({ io: 'input' }) as Schema

/** The data of each event, as this release reads it. */
export const dataSchemas = (): Record<string, Schema> =>
  Object.fromEntries((Object.keys(eventTable) as EventType[]).map(type => [type, dataSchemaOf(type)]))

/** Events that this release may publish. */
export function eventsOf(type: EventType): fc.Arbitrary<Event> {
  const envelope = { id: fc.uuid({ version: 7 }), occurred_at: fc.constant('2026-11-22T12:00:00.000Z'), trace: fc.constant(null) }
  const made: fc.Arbitrary<unknown> = fc.record({ ...envelope, type: fc.constant(type), data: arbitraryOf(dataSchemaOf(type)) })
  return made.filter(isEvent)
}
function isEvent(value: unknown): value is Event {
  try {
    return parseEvent(value) !== undefined
  } catch {
    return false
  }
}

/** Values that a schema allows: every choice of every part comes up, what is optional is there or not. */
export function arbitraryOf(schema: Schema, root: Schema = schema): fc.Arbitrary<unknown> {
  const of = (part: Schema) => arbitraryOf(part, root)
  if (schema.$ref !== undefined) return of(root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {})
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map(of))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map(type => of({ ...schema, type })))
  if (schema.allOf) return of(Object.assign({}, ...schema.allOf))
  if (schema.type === 'object') return objects(schema, of)
  if (schema.type === 'array') return fc.array(of(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: schema.maxItems ?? 2 })
  if (schema.type === 'string') return strings(schema)
  if (schema.type === 'integer' || schema.type === 'number') {
    const min = schema.exclusiveMinimum === undefined ? (schema.minimum ?? 0) : schema.exclusiveMinimum + 1
    return fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(schema.maximum ?? 2 ** 31 - 1, 2 ** 31 - 1) })
  }
  if (schema.type === 'boolean') return fc.boolean()
  return fc.constant(null)
}

function objects({ properties = {}, required = [], additionalProperties }: Schema, of: (part: Schema) => fc.Arbitrary<unknown>) {
  const named = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, of(part)]))
  const known = fc.record(named, { requiredKeys: required, noNullPrototype: true })
  if (typeof additionalProperties !== 'object') return known
  const more = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), of(additionalProperties), { maxKeys: 2, noNullPrototype: true })
  return fc.tuple(known, more).map(([one, other]) => ({ ...other, ...one }))
}

const TIMES = { min: new Date('2026-01-01T00:00:00Z'), max: new Date('2027-01-01T00:00:00Z'), noInvalidDate: true }

function strings({ format, pattern, minLength = 0, maxLength = 24 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid({ version: 7 })
  if (format === 'date-time') return fc.date(TIMES).map(date => date.toISOString())
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https'] })
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 24)), unit: 'grapheme-ascii' })
}
