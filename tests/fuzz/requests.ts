import { type Random, weighted } from '@ponte/service-kit/testing'
import { edgeOf, type Schema, type Schemas, valid } from './values'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  schema: Schema
}
interface Operation {
  operationId: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  security: Record<string, unknown>[]
}
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Schemas; parameters: Record<string, Parameter> }
}

export interface Sent {
  operation: string
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | null
}
export interface Known {
  apiKey: string
  session: string
  /** Of resources that exist. */
  ids: readonly string[]
}

const BODIES = [
  '',
  '{',
  '[]',
  'null',
  '"x"',
  '0',
  '{"a":1,"a":2}',
  '\ufeff{}',
  '{"__proto__":{"x":1}}',
  '['.repeat(5_000),
  `{"a":${'1'.repeat(400)}}`,
  '{"a":1e999}',
]
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=koi8-r',
  'text/plain',
  '',
  'application/x-www-form-urlencoded',
  'x',
]
const KEYS = ['k', 'k'.repeat(255), 'k'.repeat(256), 'a b', '"', '{}', '0', '%00', '\u00e9']

/** Requests made of the OpenAPI document: mostly one thing odd at a time, so that they pass the first check and meet the next one. */
export function requestMaker(document: Document, random: Random): (known: Known) => Sent {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // A stream does not end by itself.
      .filter(() => !path.endsWith('/stream'))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const { schemas } = document.components
  return known => {
    const { path, method, operation } = random.pick(operations)
    const parameters = (operation.parameters ?? []).map(parameter =>
      '$ref' in parameter ? document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''] : parameter,
    )
    const valueFor = (schema: Schema) =>
      random.chance(0.3) ? edgeOf(schema, schemas, random, known.ids) : valid(schema, schemas, random, known.ids)
    const filled = path.replace(/\{(\w+)\}/g, () => encoded(valueFor({ type: 'string', format: 'uuid' })))
    const query = parameters
      .filter(parameter => parameter?.in === 'query' && random.chance(0.3))
      .map(parameter => `${parameter?.name}=${encoded(valueFor(parameter?.schema ?? {}))}`)
    if (random.chance(0.05))
      query.push(random.pick(['%', '%ff=%fe', 'limit=1&limit=2', 'limit[]=1', '__proto__=x', '=', '&&', 'a'.repeat(3_000)]))
    const credential = Object.keys(operation.security[0] ?? {})[0]
    const schema = operation.requestBody?.content['application/json']?.schema
    const body = bodyOf(method, schema && valueFor(schema), random)
    return {
      operation: operation.operationId,
      method,
      path: query.length > 0 ? `${filled}?${query.join('&')}` : filled,
      headers: {
        ...(credential ? { authorization: `Bearer ${credential === 'apiKey' ? known.apiKey : known.session}` } : {}),
        ...(body ? { 'content-type': random.chance(0.02) ? random.pick(TYPES) : 'application/json' } : {}),
        ...(method === 'POST' && random.chance(0.3)
          ? { 'idempotency-key': random.chance(0.5) ? `k${random.between(0, 50)}` : random.pick(KEYS) }
          : {}),
      },
      body,
    }
  }
}

const encoded = (value: unknown) => {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value))
  return encodeURIComponent(text.toWellFormed()) || '%20'
}

function bodyOf(method: string, value: unknown, random: Random): Buffer | null {
  if (method === 'GET') return null
  return weighted<() => Buffer | null>(random, [
    [30, () => (value === undefined ? null : Buffer.from(JSON.stringify(value)))],
    [1, () => Buffer.from(random.pick(BODIES))],
    [1, () => Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])()
}
