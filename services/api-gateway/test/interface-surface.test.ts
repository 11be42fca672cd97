import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorTable } from '@ponte/contracts'
import { openApiDocument } from '../src/openapi/document'
import { INTERFACE_VERSION } from '../src/openapi/headers'

// docs/interface.md#versions: within /api/v1 things are only added. The file in `interfaces` is what clients of its day rely on, and so all that those of earlier days do: a
// new day is written beside it with WRITE_INTERFACE=1, held against it, and takes its place.

type Schema = { properties?: Record<string, { type?: unknown; enum?: unknown[] }>; required?: string[] }
interface Surface {
  operations: string[]
  parameters: string[]
  requiredParameters: string[]
  bodyFields: string[]
  requiredBodyFields: string[]
  /** Fields that an answer always has. */
  answerFields: string[]
  events: string[]
  codes: string[]
}

const BODIES = /^(Create|Update|Replay|Authorize)/

function surface(): Surface {
  const { paths, components, webhooks } = openApiDocument({})
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      parameters: ((operation as { parameters?: { name?: string; required?: boolean }[] }).parameters ?? []).filter(({ name }) => name),
    })),
  )
  const parameters = operations.flatMap(({ name, parameters: own }) =>
    own.map(each => ({ name: `${name} ${each.name}`, required: each.required })),
  )
  const schemas = Object.entries(components.schemas as Record<string, Schema>)
  const fieldsOf = (wanted: (name: string) => boolean, pick: (schema: Schema) => string[]) =>
    schemas.filter(([name]) => wanted(name)).flatMap(([name, schema]) => pick(schema).map(field => `${name}.${field}`))
  const isBody = (name: string) => BODIES.test(name)
  const sorted = (names: string[]) => [...new Set(names)].sort()
  return {
    operations: sorted(operations.map(({ name }) => name)),
    parameters: sorted(parameters.map(({ name }) => name)),
    requiredParameters: sorted(parameters.filter(({ required }) => required).map(({ name }) => name)),
    bodyFields: sorted(fieldsOf(isBody, schema => Object.keys(schema.properties ?? {}))),
    requiredBodyFields: sorted(fieldsOf(isBody, schema => schema.required ?? [])),
    answerFields: sorted(
      fieldsOf(
        name => !isBody(name),
        schema => schema.required ?? [],
      ),
    ),
    events: sorted(Object.keys(webhooks)),
    codes: sorted(Object.keys(errorTable)),
  }
}

const folder = join(__dirname, 'interfaces')
const today = join(folder, `${INTERFACE_VERSION}.json`)
if (process.env.WRITE_INTERFACE !== undefined && !existsSync(today)) writeFileSync(today, `${JSON.stringify(surface(), null, 2)}\n`)

test.each(readdirSync(folder))('what clients of %s rely on is still there', file => {
  const then: Surface = JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const now = surface()
  const gone = (['operations', 'parameters', 'bodyFields', 'answerFields', 'events', 'codes'] as const).flatMap(part =>
    then[part].filter(name => !now[part].includes(name)).map(name => `${part}: ${name} is gone`),
  )
  const known = new Set([...then.operations])
  const demanded = [
    ...now.requiredParameters
      .filter(name => !then.requiredParameters.includes(name) && known.has(name.split(' ').slice(0, 2).join(' ')))
      .map(name => `${name} has become required`),
    ...now.requiredBodyFields
      .filter(name => !then.requiredBodyFields.includes(name) && then.bodyFields.some(field => field.startsWith(`${name.split('.')[0]}.`)))
      .map(name => `${name} has become required`),
  ]
  expect([...gone, ...demanded]).toEqual([])
})

test('the day of the interface has its file', () => {
  expect(readdirSync(folder)).toContain(`${INTERFACE_VERSION}.json`)
})
