import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StepError } from '../develop/steps.mjs'

const variableOf = service => `${service.toUpperCase().replaceAll('-', '_')}_OPS_URL`

/** The ops port of one replica of each of these services: in the environment, or where npm start wrote them. */
export const opsUrls = services =>
  Object.fromEntries(Object.entries(namedUrls(services)).map(([service, urls]) => [service, listOf(urls)[0]]))

/** Of all replicas: the environment names them comma-separated, or by a name that has an address for each. */
export const replicaUrls = async services =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(namedUrls(services)).map(async ([service, urls]) => [
        service,
        (await Promise.all(listOf(urls).map(addressesOf))).flat(),
      ]),
    ),
  )

/** One replica of the listener of each network beside the first: OTHER_LISTENERS_OPS_URLS, comma-separated, or those of npm start. */
export function otherListenerUrls() {
  const given = process.env.OTHER_LISTENERS_OPS_URLS
  if (given !== undefined) return given === '' ? [] : listOf(given)
  if (process.env[variableOf('chain-listener')]) return []
  return (described()?.other_networks ?? []).map(({ metrics_url }) => withoutPath(metrics_url))
}

const listOf = urls => urls.split(',').map(url => url.trim())
const withoutPath = url => url.replace(/\/metrics$/, '')
const STATE_FILE = join(process.env.PONTE_STATE_DIR ?? join(import.meta.dirname, '../../.ponte'), 'embedded.json')

/** What npm start wrote; undefined where it does not run. */
function described() {
  try {
    return JSON.parse(readFileSync(STATE_FILE, 'utf8'))
  } catch {
    return undefined
  }
}

async function addressesOf(url) {
  const { hostname } = new URL(url)
  const found = await lookup(hostname, { all: true }).catch(() => [])
  const alike = found.filter(({ family }) => family === found[0].family)
  if (alike.length < 2) return [url]
  return alike.map(({ address, family }) => url.replace(hostname, family === 6 ? `[${address}]` : address)).sort()
}

function namedUrls(services) {
  const given = Object.fromEntries(services.map(service => [service, process.env[variableOf(service)]]))
  if (services.every(service => given[service])) return given
  const running = described()
  if (!running)
    throw new StepError(
      `Start Ponte first (npm start), or set ${services.map(variableOf).join(' and ')} to their ops ports. (${STATE_FILE} is not there.)`,
    )
  return Object.fromEntries(services.map(service => [service, given[service] ?? withoutPath(running.metrics_urls[service])]))
}

/** One question to an ops port; what is no answer is thrown with its text. */
export async function ask(url, path, init = {}) {
  const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(60_000), ...init }).catch(error => {
    throw new StepError(`${url} does not answer: ${error.cause?.message ?? error.message}`)
  })
  if (!response.ok) throw new StepError(`${url}${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}
