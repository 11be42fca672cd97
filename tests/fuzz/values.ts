import { type Random, weighted } from '@ponte/service-kit/testing'

export type Schema = Record<string, unknown>
export type Schemas = Record<string, Schema>

const STRINGS = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    'null',
    'true',
    '[]',
    '{}',
    '__proto__',
    'constructor',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff x',
    '\ufeff',
    '\u202e',
  ],
  ...['%00', '%', '../..', "' OR 1=1 --", '"', '\\', '\n', '\r\n', '😀', 'é', '漢', 'a'.repeat(255), 'a'.repeat(256), '😀'.repeat(128)],
  ...['a'.repeat(2_048), 'a'.repeat(2_049), '1'.repeat(400), 'NaN', 'Infinity', '١٢٣', '１００', '0x10', '1_000', '+1', ' 1', '1 '],
]
const TIMES = [
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000001Z'],
  ...['2024-02-29T00:00:00Z', '2026-02-29T00:00:00Z', '2026-06-30T23:59:60Z', '2999-12-31T23:59:59.999Z', '2999-12-31T23:59:59.999999999Z'],
  ...[
    '3000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '+010000-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '2026-01-01T00:00:00+14:00',
  ],
  ...['2026-01-01T24:00:00Z', '2026-01-01T00:00Z', '2026-01-01', '20260101T000000Z', '2026-01-01T00:00:00', '2038-01-19T03:14:08Z'],
]
const DATES = ['0000-01-01', '1969-12-31', '1970-01-01', '2024-02-29', '2026-02-29', '2999-12-31', '3000-01-01', '9999-12-31', '9999-12-31']
const IDS = [
  ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'ffffffff-ffff-7fff-bfff-ffffffffffff'],
  ...['00000000-0000-7000-8000-000000000000', '01981F3C-7B1E-7CC3-9D0E-4F1D2A6B8C90', '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c9', 'g1981f3c'],
]
const NUMBERS = [0, -0, -1, 1, 1.5, 1e-9, 1e21, 2 ** 31 - 1, 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 2 ** 53, -(2 ** 63), 1e308]
const AMOUNTS = [
  '0',
  '0.00',
  '0.01',
  '0.1',
  '1',
  '1.',
  '.5',
  '1.005',
  '-1.00',
  '9999999999.99',
  '10000000000',
  '1e3',
  '1,50',
  '00001.00',
  '0.001',
]
const OTHERS: unknown[] = [null, true, false, 0, 'text', [], {}, [[]], [null], { a: { b: { c: [] } } }]

/** Values at the edge of a schema, on both sides of it. `ids` are of resources that exist. */
export function edgeOf(schema: Schema, schemas: Schemas, random: Random, ids: readonly string[]): unknown {
  if (typeof schema.$ref === 'string') return edgeOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas, random, ids)
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants)) return edgeOf(random.pick(variants), schemas, random, ids)
  return weighted<() => unknown>(random, [
    [6, () => typedEdge(schema, schemas, random, ids)],
    [5, () => valid(schema, schemas, random, ids)],
    [1, () => random.pick(OTHERS)],
  ])()
}

/** A value that the schema takes, as far as a schema can express. */
export function valid(schema: Schema, schemas: Schemas, random: Random, ids: readonly string[]): unknown {
  if (typeof schema.$ref === 'string') return valid(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas, random, ids)
  if (schema.format === 'uuid') return random.pick([...ids, ...IDS.slice(0, 5)])
  const examples = Array.isArray(schema.examples) ? schema.examples : []
  if (examples.length > 0) return random.pick(examples)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return random.pick(schema.enum)
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants)) return valid(random.pick(variants), schemas, random, ids)
  if (schema.type === 'object') return objectOf(schema, random, property => valid(property, schemas, random, ids))
  if (schema.type === 'array') return []
  if (schema.type === 'integer' || schema.type === 'number')
    return random.pick([Number(schema.minimum ?? 1), Number(schema.maximum ?? 100), Math.max(1, Number(schema.minimum ?? 1))])
  if (schema.type === 'boolean') return random.chance(0.5)
  if (schema.type === 'null') return null
  return 'text'
}

function typedEdge(schema: Schema, schemas: Schemas, random: Random, ids: readonly string[]): unknown {
  if (schema.type === 'object') return oddObject(schema, schemas, random, ids)
  if (schema.type === 'integer' || schema.type === 'number')
    return random.pick([...around(schema.minimum), ...around(schema.maximum), ...NUMBERS])
  if (schema.type === 'array') return random.pick([[], [null], Array(300).fill('x')])
  if (schema.type !== 'string') return random.pick(OTHERS)
  const lengths = [...around(schema.minLength), ...around(schema.maxLength)].filter(length => length >= 0 && length < 10_000)
  return random.pick([
    ...STRINGS,
    ...lengths.flatMap(length => ['x'.repeat(length), '😀'.repeat(length)]),
    ...(schema.format === 'date-time' ? [...TIMES, ...TIMES] : []),
    ...(schema.format === 'date' ? [...DATES, ...DATES, ...DATES] : []),
    ...(schema.format === 'uuid' ? [...IDS, ...ids.slice(-5).map(id => id.toUpperCase())] : []),
    ...(typeof schema.pattern === 'string' && schema.pattern.includes('\\.') ? [...AMOUNTS, ...AMOUNTS] : []),
    ...(Array.isArray(schema.enum) ? schema.enum : []),
  ])
}

const around = (bound: unknown): number[] => (typeof bound === 'number' ? [bound - 1, bound, bound + 1] : [])

function objectOf(schema: Schema, random: Random, make: (property: Schema) => unknown): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries((schema.properties ?? {}) as Schemas).filter(([name]) => required.includes(name) || random.chance(0.35))
  return Object.fromEntries(properties.map(([name, property]) => [name, make(property)]))
}

function oddObject(schema: Schema, schemas: Schemas, random: Random, ids: readonly string[]): unknown {
  const made = objectOf(schema, random, property =>
    random.chance(0.3) ? edgeOf(property, schemas, random, ids) : valid(property, schemas, random, ids),
  )
  const names = Object.keys(made)
  if (random.chance(0.1) && names.length > 0) delete made[random.pick(names)]
  if (random.chance(0.15))
    Object.defineProperty(made, random.pick(STRINGS), { value: random.pick(OTHERS), enumerable: true, configurable: true })
  const values = schema.additionalProperties
  if (typeof values === 'object' && values !== null)
    for (let left = random.between(0, 24); left > 0; left--)
      Object.defineProperty(made, `${random.pick(STRINGS)}${random.chance(0.7) ? left : ''}`, {
        value: edgeOf(values as Schema, schemas, random, ids),
        enumerable: true,
        configurable: true,
      })
  return made
}
