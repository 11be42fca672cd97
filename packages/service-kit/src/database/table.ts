import { z } from 'zod'

/** A bigint column: the driver gives it as text, and JSON holds a number as a double. */
export const units = z.coerce.bigint()
export const time = z.coerce.date()
export const flag = z.boolean()
export const int = z.coerce.number()
export const text = z.string()

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** The fields of a row under the names of their columns. What the statement does not name is not written. */
export const snakeCase = (row: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [snake(field), value]))

/**
 * The one declaration of what a table holds: its columns are the fields in snake_case, and from them follow what is selected, what is written and how a row
 * is read. `computed` names expressions for fields that are no columns. For statements whose plan or side effects are too much to leave to Prisma.
 */
export function table<Shape extends z.ZodRawShape>(
  name: string,
  shape: Shape,
  computed: { readonly [Field in keyof Shape]?: string } = {},
) {
  const schema = z.object(shape)
  const fields = Object.keys(shape)
  const columns = fields.filter(field => computed[field] === undefined).map(snake)
  return {
    name,
    columns,
    columnsOf: (...names: (keyof Shape & string)[]) => names.map(snake),
    /** Every column and expression under the name of its field. */
    select: (from: string = name) => fields.map(field => `${computed[field] ?? `${from}.${snake(field)}`} AS "${field}"`).join(', '),
    /** The same as an object of JSON; units are text in it, because they may be more than a double holds. */
    json: (from: string = name) =>
      `json_build_object(${fields.map(field => `'${field}', ${from}.${snake(field)}${shape[field] === units ? '::text' : ''}`).join(', ')})`,
    parse: (row: unknown): z.infer<typeof schema> => schema.parse(row),
    /** A row to write; fields that it lacks are not written. */
    record: (row: object): Record<string, unknown> =>
      Object.fromEntries(fields.flatMap(field => (field in row ? [[snake(field), Reflect.get(row, field)]] : []))),
  }
}
