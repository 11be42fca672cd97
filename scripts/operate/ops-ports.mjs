import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../develop/setup.mjs'
import { StepError } from '../develop/steps.mjs'

const variableOf = service => `${service.toUpperCase().replaceAll('-', '_')}_OPS_URL`

/** The ops port of one replica of each of these services: in the environment, or where npm start wrote them. */
export const opsUrls = services => Object.fromEntries(Object.entries(replicaUrls(services)).map(([service, [first]]) => [service, first]))

/** Addresses of all replicas: the environment names them comma-separated. */
export const replicaUrls = services =>
  Object.fromEntries(Object.entries(namedUrls(services)).map(([service, urls]) => [service, urls.split(',').map(url => url.trim())]))

function namedUrls(services) {
  const given = Object.fromEntries(services.map(service => [service, process.env[variableOf(service)]]))
  if (services.every(service => given[service])) return given
  const file = join(process.env.PONTE_STATE_DIR ?? join(root, '.ponte'), 'embedded.json')
  try {
    const { metrics_urls } = JSON.parse(readFileSync(file, 'utf8'))
    return Object.fromEntries(services.map(service => [service, given[service] ?? metrics_urls[service].replace(/\/metrics$/, '')]))
  } catch {
    throw new StepError(
      `Start Ponte first (npm start), or set ${services.map(variableOf).join(' and ')} to their ops ports. (${file} is not there.)`,
    )
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
