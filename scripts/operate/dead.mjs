import { parseArgs } from 'node:util'
import { fail, StepError } from '../develop/steps.mjs'
import { ask, opsUrls } from './ops-ports.mjs'

// The events that a service could not handle: npm run dead -- list | show <id> | retry <id>… | retry --all | discard <id>… [--service orders]
const QUEUES = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher']
const USAGE = 'Usage: dead list | show <id> | retry <id>… | retry --all | discard <id>…, each with --service <name> for one service alone.'

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { service: { type: 'string' }, all: { type: 'boolean', default: false } },
  })
  const [command, ...ids] = positionals
  if (values.service !== undefined && !QUEUES.includes(values.service)) throw new StepError(`A queue is of one of ${QUEUES.join(', ')}.`)
  const urls = Object.entries(opsUrls(values.service ? [values.service] : QUEUES))
  if (command === 'list') return list(urls)
  if (command === 'show' && ids.length === 1) return show(urls, ids[0])
  if (command === 'retry' && ids.length > 0 !== values.all) return retry(urls, values.all ? { all: true } : { ids })
  if (command === 'discard' && ids.length > 0 && !values.all) return discard(urls, ids)
  throw new StepError(USAGE)
}

async function list(urls) {
  for (const [service, url] of urls) {
    const { count, data } = await ask(url, '/dead')
    console.log(`${service}: ${count}`)
    for (const { id, type } of data) console.log(`  ${id}  ${type}`)
  }
}

async function show(urls, id) {
  for (const [service, url] of urls) {
    const found = (await ask(url, '/dead')).data.some(letter => letter.id === id)
    if (found) return console.log(JSON.stringify({ service, ...(await ask(url, `/dead/${id}`)) }, null, 2))
  }
  throw new StepError(`No service has a dead letter ${id}.`)
}

async function retry(urls, body) {
  for (const [service, url] of urls) {
    const { retried } = await ask(url, '/dead/retry', { method: 'POST', body: JSON.stringify(body) })
    if (retried > 0) console.log(`${service}: ${retried} put back into its queue.`)
  }
}

/** For good: shown once more, so that what is removed stands in the operator's terminal. */
async function discard(urls, ids) {
  for (const [service, url] of urls) {
    const here = (await ask(url, '/dead')).data.filter(({ id }) => ids.includes(id))
    for (const { id } of here) console.log(JSON.stringify({ service, ...(await ask(url, `/dead/${id}`)) }))
    if (here.length === 0) continue
    const { discarded } = await ask(url, '/dead/discard', { method: 'POST', body: JSON.stringify({ ids: here.map(({ id }) => id) }) })
    console.log(`${service}: ${discarded} removed for good.`)
  }
}

await main().catch(fail)
