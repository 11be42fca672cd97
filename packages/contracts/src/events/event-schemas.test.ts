import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { eventTable } from '.'
import decided from './event-schemas.json'

// Replicas of the release before read what this one publishes, and the other way round. A schema that changes asks for a decision, which is written here:
//
//  - A field that is new: consumers of this release read it as optional, because the release before does not publish it. Nothing else to do.
//  - A value that is new in a list: replicas of the release before hand the event back until they are replaced. Its reader must bear that wait.
//  - A field that goes, another type or a narrower value: not in one release. Publish both first, or take another name for the event.
//
// Then run npm test -- tests/releases/crossing, and put the hash that this test names into event-schemas.json.

/** Descriptions are not checked, and play no part. */
const isProse = (key: string) => ['description', 'example', 'examples'].includes(key)
const jsonOf = (schema: z.ZodType) =>
  JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), (key, value) =>
    isProse(key) && typeof value !== 'object' ? undefined : value,
  )
const hashOf = (schema: z.ZodType) => createHash('sha256').update(jsonOf(schema)).digest('hex').slice(0, 16)

it('each event schema is the one that was decided on', () => {
  const now = Object.fromEntries(Object.entries(eventTable).map(([type, schema]) => [type, hashOf(schema)]))
  expect(now).toEqual(decided)
})

it('events of subscriptions carry facts of their own, and no answer of the API', () => {
  const source = readFileSync(join(__dirname, 'subscriptions.ts'), 'utf8')
  expect(source).not.toMatch(/from '\.\.\/api/)
})

it('every event may carry fields that this release does not know', () => {
  const strict = Object.entries(eventTable).filter(([, schema]) => jsonOf(schema).includes('"additionalProperties":false'))
  expect(strict.map(([type]) => type)).toEqual([])
})
