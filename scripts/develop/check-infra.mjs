import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { DCLinter } from 'dclint'
import { validate as validateDockerfile } from 'dockerfile-utils'
import { parse, parseAllDocuments } from 'yaml'
import { buildOverlay, overlays } from '../../infra/kubernetes/build-overlay.mjs'
import { derived } from '../../infra/make-derived.mjs'

// Checks the infrastructure files without a Docker engine or a cluster: they follow their public schemas, queries are PromQL, the overlays build, derived
// files are what they are derived from.
const root = join(import.meta.dirname, '../..')
const read = path => readFileSync(join(root, path), 'utf8')
const faults = []
const fault = (path, text) => faults.push(`${path}: ${text}`)
/** Where the schemas of what is no part of Kubernetes stand; of two operators no package has any. */
const SCHEMAS = {
  'gateway.networking.k8s.io': path => import(`@kubernetes-models/gateway-api/${path}`),
  'monitoring.coreos.com': path => import(`@kubernetes-models/prometheus-operator/${path}`),
  'postgresql.cnpg.io': path => import(`@kubernetes-models/cloudnative-pg/${path}`),
}
const ofKubernetes = path => import(`kubernetes-models/${path}`)

checkDockerfile('infra/Dockerfile')
checkCompose('docker-compose.yml')
checkDockerfile('infra/compose/postgres.Dockerfile')
checkAlerts('infra/prometheus/alerts.yaml')
checkDashboard('infra/grafana/ponte.json')
for (const [path, text] of Object.entries(derived)) {
  if (read(path) !== text) fault(path, 'is not what infra/make-derived.mjs writes: run node infra/make-derived.mjs')
}
for (const overlay of overlays) await checkManifests(`infra/kubernetes/overlays/${overlay}`, buildOverlay(overlay))

if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}

function checkDockerfile(path) {
  const instructionsInCapitals = { instructionCasing: 2 }
  for (const { message, range } of validateDockerfile(read(path), instructionsInCapitals)) fault(`${path}:${range.start.line + 1}`, message)
}

function checkCompose(path) {
  const order = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order']
  // `image` names what `build` makes. Order and quotes follow the reader, as everywhere else.
  const off = [...order, 'no-build-and-image', 'no-quotes-in-volumes', 'require-quotes-in-ports']
  const linter = new DCLinter({ rules: Object.fromEntries(off.map(rule => [rule, 0])), quiet: false, debug: false, exclude: [] })
  for (const { messages } of linter.lintFiles([join(root, path)], false)) {
    for (const { line, rule, message } of messages) fault(`${path}:${line}`, `${message} (${rule})`)
  }
  for (const [name, { ports = [] }] of Object.entries(parse(read(path), { merge: true }).services)) {
    const published = ports.filter(port => !port.startsWith('127.0.0.1:'))
    if (published.length > 0 && name !== 'api-gateway') fault(path, `${name} is published; only the gateway may be`)
  }
}

function checkQuery(path, query) {
  parser.parse(query).iterate({
    enter: node => {
      if (node.type.isError) fault(path, `not PromQL at ${node.from}: ${query}`)
    },
  })
}

function checkAlerts(path) {
  for (const { rules } of parse(read(path)).groups) {
    for (const { alert, expr, labels, annotations } of rules) {
      checkQuery(path, expr)
      if (alert === undefined) continue
      if (!['page', 'ticket', 'none'].includes(labels?.severity)) fault(path, `${alert} has no severity page or ticket`)
      if (!annotations?.summary || !annotations?.runbook) fault(path, `${alert} lacks its summary or its runbook`)
    }
  }
}

function checkDashboard(path) {
  for (const { title, targets = [] } of JSON.parse(read(path)).panels) for (const { expr } of targets) checkQuery(`${path}, ${title}`, expr)
}

async function checkManifests(path, text) {
  const unknown = ['rabbitmq.com', 'barmancloud.cnpg.io']
  // An address that kustomize writes without quotes is too long to be a number, and Kubernetes reads it as text.
  const customTags = tags => tags.filter(tag => tag.format !== 'HEX')
  for (const document of parseAllDocuments(text, { customTags })) {
    const manifest = document.toJS()
    if (document.errors.length > 0) fault(path, String(document.errors[0]))
    const { apiVersion, kind, metadata } = manifest ?? {}
    const group = apiVersion?.split('/')[0]
    if (!apiVersion || unknown.includes(group)) continue
    const model = await (SCHEMAS[group] ?? ofKubernetes)(`${apiVersion}/${kind}`).catch(() => undefined)
    if (!model) fault(path, `there is no ${apiVersion} ${kind}`)
    try {
      if (!model) continue
      const unread = new Set()
      watched(new model[kind](manifest), `${kind} ${metadata?.name}`, unread).validate()
      for (const field of unread) fault(path, `${field} is not a field that Kubernetes knows`)
    } catch (error) {
      fault(path, `${kind} ${metadata?.name}: ${error.message}`)
    }
  }
}

/** The validators read every field that they know; what they leave unread is a field that has no effect. */
function watched(value, place, unread, known = new Map()) {
  if (typeof value !== 'object' || value === null) return value
  if (known.has(value)) return known.get(value)
  for (const key of Object.keys(value)) unread.add(`${place}.${key}`)
  const proxy = new Proxy(value, {
    get(target, key, receiver) {
      const field = Reflect.get(target, key, receiver)
      if (typeof key !== 'string' || typeof field === 'function') return field
      unread.delete(`${place}.${key}`)
      return watched(field, `${place}.${key}`, unread, known)
    },
  })
  known.set(value, proxy)
  return proxy
}
