import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StepError } from '../develop/steps.mjs'

const EMBEDDED = join(process.env.PONTE_STATE_DIR ?? join(import.meta.dirname, '../../.ponte'), 'embedded.json')
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

/** The listeners and relayers of further networks, by the names that Compose has: `chain-listener-2`, `relayer-2`. */
export function otherNetworks() {
  const named = Object.entries(process.env).flatMap(([name, url]) => {
    const [, service, index] = /^(CHAIN_LISTENER|RELAYER)_(\d+)_OPS_URL$/.exec(name) ?? []
    return service && url ? [`${service.toLowerCase().replace('_', '-')}-${index}`] : []
  })
  if (process.env[variableOf('chain-listener')]) return named.sort()
  return Object.keys(embedded()?.metrics_urls ?? {}).filter(name => /^chain-listener-\d+$/.test(name))
}

/** Of these services the ones whose ops port is named where that of chain-listener is. */
export const namedAmong = services =>
  services.filter(service =>
    process.env[variableOf('chain-listener')] ? process.env[variableOf(service)] : embedded()?.metrics_urls?.[service],
  )

const listOf = urls => urls.split(',').map(url => url.trim())

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
  const urls = embedded()?.metrics_urls ?? {}
  if (!services.every(service => given[service] ?? urls[service]))
    throw new StepError(
      `Start Ponte first (npm start), or set ${services.map(variableOf).join(' and ')} to their ops ports. (${EMBEDDED} is not there.)`,
    )
  return Object.fromEntries(services.map(service => [service, given[service] ?? urls[service].replace(/\/metrics$/, '')]))
}

/** As npm start wrote it; null where it did not. */
function embedded() {
  try {
    return JSON.parse(readFileSync(EMBEDDED, 'utf8'))
  } catch {
    return null
  }
}

/** One question to an ops port; what is no answer is thrown with its text. */
export async function ask(url, path, init = {}) {
  const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(60_000), ...init }).catch(error => {
    throw new StepError(`${url} does not answer: ${error.cause?.message ?? error.message}`)
  })
  if (!response.ok) throw new StepError(`${url}${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}
