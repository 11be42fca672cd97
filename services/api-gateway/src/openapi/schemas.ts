import { answers, operationList, webhookBodies } from '@ponte/contracts'
import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

/** A body is called as its operation: `createOrder` takes a `CreateOrder`. */
export const requestName = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1)

const withBody = operationList.filter(([, { credentials }]) => !credentials.includes('internal'))
export const requests: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  withBody.flatMap(([id, { body }]) => (body ? [[requestName(id), body] as const] : [])),
)

export const webhooks: Readonly<Record<string, z.ZodType>> = webhookBodies

/** `order.paid` to `OrderPaidWebhook`. */
export const webhookSchemaName = (type: string) =>
  `${type
    .split(/[._]/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Webhook`

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** All named schemas as OpenAPI 3.1 takes them: JSON Schema 2020-12, naming each other. */
export function componentSchemas(): Record<string, JsonSchema> {
  const webhookBodies = Object.fromEntries(Object.entries(webhooks).map(([type, schema]) => [webhookSchemaName(type), schema]))
  return { ...convertAll(requests, 'input'), ...convertAll({ ...answers, ...webhookBodies }, 'output') }
}

export const toJsonSchema = (schema: z.ZodType): JsonSchema => tidy(z.toJSONSchema(schema, { io: 'input' }))

function convertAll(schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id })
  const converted = z.toJSONSchema(registry, { io, uri: id => refTo(id).$ref })
  return Object.fromEntries(Object.entries(converted.schemas).map(([name, schema]) => [name, tidy(schema)]))
}

/** Leaves out what carries no meaning for a reader: the dialect, the bounds of a double, and patterns that repeat a format. */
function tidy(value: unknown): JsonSchema {
  return tidied(value) as JsonSchema
}

function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== 'object' || value === null) return value
  const { $schema, $id, id, example, ...schema } = value as JsonSchema
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (typeof schema.format === 'string') delete schema.pattern
  // `id` is a name for the registry at a schema's top, and a property's name inside `properties`.
  const kept = typeof id === 'object' ? { id, ...schema } : schema
  return {
    ...Object.fromEntries(
      Object.entries(kept).map(([key, inner]) => [key, key === 'example' || key === 'default' ? inner : tidied(inner)]),
    ),
    ...(example === undefined
      ? {}
      : typeof example === 'object' && 'type' in Object(example)
        ? { example: tidied(example) }
        : { examples: [example] }),
  }
}
