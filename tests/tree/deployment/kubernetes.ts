import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments, type Tags } from 'yaml'
import type { Container, Variables } from './container'

// The objects that `kubectl apply` would send for an overlay, with the secrets that the script prints for it and the one that the operator of RabbitMQ makes.

const root = join(__dirname, '../../..')
/** An address is longer than a number can be. */
const yaml = { merge: true, customTags: (tags: Tags) => tags.filter(tag => typeof tag === 'string' || tag.format !== 'HEX') }

export interface PodContainer {
  image: string
  args?: string[]
  env?: { name: string; value?: string; valueFrom: { secretKeyRef: { name: string; key: string } } }[]
  envFrom: Record<string, { name: string }>[]
  ports?: { name: string }[]
}
export interface Manifest {
  kind: string
  metadata: { name: string }
  data?: Variables
  stringData?: Variables
  spec?: {
    replicas?: number
    maxReplicas?: number
    postgresql?: { parameters: Variables; pg_hba: string[] }
    managed?: { roles: { name: string; passwordSecret: { name: string } }[] }
    name?: string
    owner?: string
    podMetricsEndpoints?: { port: string }[]
    template?: { spec: { containers: PodContainer[]; initContainers: PodContainer[] } }
  }
}

/** As the operator of RabbitMQ makes it, its host and port left out. */
const secretOfOperator: Manifest = {
  kind: 'Secret',
  metadata: { name: 'rabbitmq-default-user' },
  stringData: { connection_string: 'amqp://default_user_x:a-password@rabbitmq.ponte.svc:5672/' },
}

/** `given` is the environment that an operator runs the script of the secrets with. */
export function renderOverlay(
  overlay: string,
  given: Variables = { RPC_URLS: 'https://rpc.example/key', RELAYER_KMS_KEY: 'alias/relayer', GASLESS_KMS_KEY: 'alias/gasless' },
  { home = join(root, 'infra/kubernetes'), networks = [] }: { home?: string; networks?: readonly string[] } = {},
) {
  const printed = (script: string, ...args: string[]) =>
    spawnSync(process.execPath, [join(home, script), overlay, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...given },
      maxBuffer: 64 << 20,
    }).stdout
  const manifestsOf = (text: string) => parseAllDocuments(text, yaml).map(document => document.toJS() as Manifest)
  const manifests = [
    ...manifestsOf(printed('build-overlay.mjs')),
    ...manifestsOf(printed('make-secrets.mjs')),
    ...networks.flatMap(network => manifestsOf(printed('make-secrets.mjs', network))),
    ...(overlay === 'production' ? [secretOfOperator] : []),
  ].filter(Boolean)
  const named = (kind: string, wanted: string | undefined) => manifests.find(each => each.kind === kind && each.metadata.name === wanted)
  const valuesOf = (kind: string, name: string | undefined): Variables | undefined => {
    const source = named(kind, name)
    return source && (source.data ?? source.stringData ?? {})
  }
  /** The environment that Kubernetes gives a container: nothing is added, changed or left out here. */
  const environmentOf = ({ env = [], envFrom }: PodContainer): Variables => {
    const sources = envFrom.map(({ configMapRef, secretRef }) => {
      const values = valuesOf('ConfigMap', configMapRef?.name) ?? valuesOf('Secret', secretRef?.name)
      if (!values) throw new Error(`The overlay ${overlay} has no ${configMapRef?.name ?? secretRef?.name}.`)
      return values
    })
    const single = env.map(({ name, valueFrom: { secretKeyRef: from } }) => [name, valuesOf('Secret', from.name)?.[from.key] ?? ''])
    return Object.assign({}, ...sources, Object.fromEntries(single))
  }
  const deployment = (name: string) => named('Deployment', name)?.spec
  const podOf = (name: string) => deployment(name)?.template?.spec
  return {
    manifests,
    named,
    deployment,
    environmentOf,
    secret: (name: string) => valuesOf('Secret', name) ?? {},
    /** The containers of a program's pod, in the order in which Kubernetes starts them. */
    containers(name: string): Container[] {
      const { initContainers = [], containers = [] } = podOf(name) ?? {}
      return [...initContainers, ...containers].map(each => ({ args: each.args ?? [], environment: environmentOf(each) }))
    },
  }
}
