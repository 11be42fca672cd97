import type { JsonSchema } from './schemas'

/** An example of an answer, made of the examples of its parts; what may be null is null. */
export function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants)) return variants.some(({ type }) => type === 'null') ? null : exampleOf(variants[0] ?? {}, schemas)
  return exampleOfType(schema, schemas)
}

function exampleOfType(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (schema.type === 'object') {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(property, schemas)]))
  }
  if (schema.type === 'array') return [exampleOf((schema.items ?? {}) as JsonSchema, schemas)]
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, Number(schema.minimum ?? 1))
  if (schema.type === 'boolean') return false
  return schema.type === 'string' ? 'text' : null
}
