import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EventType, eventTable, topology } from '@ponte/contracts'
import fc from 'fast-check'
import { dataSchemas, eventsOf } from './event-arbitrary'

// npm run record-release, when a release is out: what it publishes and reads, with which the next one is crossed.

const SAMPLES = 3
const SEED = 21

const lines = (items: readonly string[]) => `\n    ${items.join(',\n    ')}\n  `
const named = (record: Readonly<Record<string, unknown>>) =>
  `{${lines(Object.entries(record).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`))}}`
const events = (Object.keys(eventTable) as EventType[]).flatMap(type => fc.sample(eventsOf(type), { seed: SEED, numRuns: SAMPLES }))
const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim()

writeFileSync(
  join(__dirname, 'before.json'),
  `{
  "commit": "${commit}",
  "queues": ${named(topology)},
  "schemas": ${named(dataSchemas())},
  "events": [${lines(events.map(event => JSON.stringify(event)))}]
}
`,
)
console.log(`${events.length} events of ${Object.keys(eventTable).length} types, as ${commit} has them.`)
