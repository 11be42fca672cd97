import { z } from 'zod'

/** The same schema with any text where it lists values, and with fields kept that it does not name. */
export function openEnums(schema: z.core.$ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    return z.looseObject(Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, openEnums(field)])))
  }
  if (schema instanceof z.ZodArray) return z.array(openEnums(schema.element))
  if (schema instanceof z.ZodNullable) return openEnums(schema.unwrap()).nullable()
  if (schema instanceof z.ZodOptional) return openEnums(schema.unwrap()).optional()
  if (schema instanceof z.ZodEnum) return z.string()
  if (schema instanceof z.ZodType) return schema
  throw new Error('A schema of another library cannot be opened.')
}
