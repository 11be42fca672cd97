import { parseArgs } from 'node:util'
import { fail, StepError } from '../develop/steps.mjs'
import { ask, opsUrls } from './ops-ports.mjs'

// Has services publish again what they published since a moment, for one whose database was restored to then (docs/operating/recover.md, A restored database):
// npm run republish -- --since 2026-11-22T14:00:00Z [--until 2026-11-22T14:20:00Z] [--service orders]. What is new waits behind it.
const PUBLISHERS = ['api-gateway', 'orders', 'subscriptions', 'chain-listener']

async function main() {
  const { values } = parseArgs({ options: { since: { type: 'string' }, until: { type: 'string' }, service: { type: 'string' } } })
  if (values.since === undefined || (values.service !== undefined && !PUBLISHERS.includes(values.service)))
    throw new StepError(`Usage: republish --since <time, as 2026-11-22T14:00:00Z> [--until <time>] [--service ${PUBLISHERS.join(' | ')}]`)
  for (const [service, url] of Object.entries(opsUrls(values.service ? [values.service] : PUBLISHERS))) {
    const { events } = await ask(
      url,
      `/republish?${new URLSearchParams({ since: values.since, ...(values.until ? { until: values.until } : {}) })}`,
      { method: 'POST' },
    )
    console.log(`${service}: ${events} events are published again; readers that know them drop them.`)
  }
}

await main().catch(fail)
