import { fail } from '../develop/steps.mjs'
import { findings, readSamples } from './health.mjs'
import { otherNetworks, replicaUrls } from './ops-ports.mjs'

// Shows every fault on one screen: npm run status. Ends with 1 when there is one.
const SERVICES = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher']
const WAIT_MS = 5_000

/** A wait for the next block or message is no fault, so a fault is looked at again. */
const AGAIN_AFTER_MS = 2_000

async function main() {
  const first = await look()
  const isWell = first.every(line => line.isWell)
  if (!isWell) await new Promise(resolve => setTimeout(resolve, AGAIN_AFTER_MS))
  const lines = isWell ? first : await look()
  const firing = await alerts()
  const pages = firing.filter(({ labels }) => labels.severity === 'page').length
  const wrong = lines.filter(({ isWell }) => !isWell)
  const width = Math.max(...lines.map(({ subject }) => subject.length))
  for (const { subject, isWell, text } of lines) console.log(`${isWell ? '  ok   ' : '  WRONG'}  ${subject.padEnd(width)}  ${text}`)
  if (wrong.length === 0) console.log(pages === 0 ? '\nAll is well.' : '\nNothing is wrong that the services show, and these alerts fire:')
  else console.log('\nWhat to do (alerts are in infra/prometheus/alerts.yaml, with a runbook each):')
  for (const { subject, advice } of wrong) console.log(`  ${subject}: ${advice}`)
  for (const { labels, annotations } of firing) console.log(`  ALERT   ${labels.alertname} (${labels.severity}): ${annotations.summary}`)
  // By what it saw itself: an alert that is silenced on purpose fires too.
  process.exitCode = wrong.length === 0 ? 0 : 1
}

async function look() {
  // The relayer has an ops port where it is a process of its own; inside the listener it is seen there.
  const others = otherNetworks()
  const replicas = await replicaUrls([...SERVICES, ...(process.env.RELAYER_OPS_URL ? ['relayer'] : []), ...others])
  // Each replica for itself: one that hangs is seen in no other's answer.
  const urls = Object.fromEntries(
    Object.entries(replicas).flatMap(([service, all]) => all.map((url, at) => [all.length > 1 ? `${service} ${at + 1}` : service, url])),
  )
  const answers = await Promise.all(
    Object.entries(urls).map(async ([service, url]) => {
      const [ready, metrics] = await Promise.all([read(url, '/readyz'), read(url, '/metrics')])
      return [service, { url, ready: ready === null ? null : JSON.parse(ready), ...readSamples(metrics ?? '') }]
    }),
  )
  const chains = await Promise.all(
    ['chain-listener', ...others.filter(name => name.startsWith('chain-listener'))].map(async name => {
      const statuses = (await Promise.all(replicas[name].map(url => read(url, '/status')))).filter(Boolean).map(text => JSON.parse(text))
      // The leader's, which alone reads heads and asks nodes.
      return { name, status: statuses.find(({ role }) => role === 'leader') ?? statuses[0] ?? null }
    }),
  )
  return findings(Object.fromEntries(answers), chains, Date.now())
}

/** Alerts that fire, also of backups and disks, which no service shows. None where no Prometheus is named. */
async function alerts() {
  if (!process.env.PROMETHEUS_URL) return []
  const answer = await read(process.env.PROMETHEUS_URL, '/api/v1/alerts')
  // While it starts it answers 503 with a text.
  if (!answer?.startsWith('{'))
    return [{ labels: { alertname: 'Prometheus', severity: 'page' }, annotations: { summary: 'it does not answer, so no one is woken.' } }]
  return JSON.parse(answer).data.alerts.filter(({ state, labels }) => state === 'firing' && labels.severity !== 'none')
}

/** The text of an answer; null when there is none. A service that is not ready answers 503, which is one. */
async function read(url, path) {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(WAIT_MS) })
    return response.ok || response.status === 503 ? await response.text() : null
  } catch {
    return null
  }
}

await main().catch(fail)
