import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { Client } from 'pg'
import { type Servers, startServers } from '../torture/cluster'
import { type Replicas, startReplicas, startWorld, type World } from '../world'
import { drill, type Started } from './drill'
import { type Line, print, verdict } from './table'
import { startTraffic, type Traffic } from './traffic'

// Changes every key and password of a running system, as docs/operating/rotate.md describes, under steady traffic; counts what failed.

const CALM_MS = 5_000
const SETTLE_MS = 300_000
const newSecret = () => randomBytes(32).toString('hex')
const roleOf = (service: ServiceName) => service.replaceAll('-', '_')

interface Stage {
  world: World
  servers: Servers
  replicas: Replicas
  keys: Awaited<ReturnType<typeof startKeySet>>
}

async function main(started: Started): Promise<void> {
  const servers = started(await startServers())
  await asAdmin(servers, serviceNames.flatMap(firstRole))
  const databaseUrl = (service: ServiceName) => databaseUrlAs(servers, service, roleOf(service), 'first')
  const amqp = { url: servers.broker.url, namespace: 'ponte' }
  const world = started(await startWorld({ amqp, databaseUrl }))
  const keys = started(await startKeySet(world))
  const replicas = started(await startReplicas(world.place, 2, { LOG_LEVEL: 'warn', JWKS_URL: keys.url }))
  const traffic = started(await startTraffic(world, replicas.gatewayUrl, { sessionToken: ({ token }) => keys.resign(token) }))
  await traffic.fill()
  traffic.run()
  const stage = { world, servers, replicas, keys }
  const lines: Line[] = []
  for (const [name, rotate] of Object.entries(rotations)) lines.push(await under(traffic, name, () => rotate(stage)))
  print('Two replicas of each service; 4 orders, 4 lists, 4 of a session and a payment a second', lines, [
    'Failed is every answer that is none, or above 399. Each payment was notified.',
  ])
  const failed = lines.reduce((sum, line) => sum + Number(line.failed), 0)
  verdict(failed === 0, `${failed} requests failed while keys and passwords changed.`)
}

async function under(traffic: Traffic, name: string, work: () => Promise<void>): Promise<Line> {
  await pause(CALM_MS)
  const began = Date.now()
  await work()
  await pause(CALM_MS)
  const seconds = (Date.now() - began) / 1000
  await traffic.settled(SETTLE_MS)
  const asked = traffic.asked.filter(({ at }) => at >= began)
  const failed = asked.filter(({ status }) => status === null || status > 399)
  for (const { what, status } of failed) console.log(`${name}: ${what} answered ${status}`)
  const payments = traffic.paid.filter(({ at }) => at >= began).length
  await traffic.fill()
  return { changed: name, s: Math.round(seconds), requests: asked.length, failed: failed.length, payments }
}

/** All first replicas at once, then all second ones: harder than one service after the other. */
async function roll({ replicas }: Stage, settings: (name: ServiceName) => Environment): Promise<void> {
  for (const index of [0, 1]) {
    const ends = await Promise.all(serviceNames.map(name => replicas.restart(name, index, settings(name))))
    if (ends.some(({ code }) => code !== 0)) throw new Error(`A process ended with ${ends.map(({ code }) => code).join()}.`)
  }
}

/** From the old value to both, to both with the new one first, to the new one. */
const steps = (old: string, fresh: string) => [`${old},${fresh}`, `${fresh},${old}`, fresh]

const rotations: Record<string, (stage: Stage) => Promise<void>> = {
  async 'tokens to owners'(stage) {
    const { secrets } = stage.world.place
    const fresh = newSecret()
    const all = (pick: (old: string) => string): Partial<Record<ServiceName, Environment>> => ({
      'api-gateway': {
        ORDERS_TOKEN_SECRET: pick(secrets.ordersTokenSecret),
        SUBSCRIPTIONS_TOKEN_SECRET: pick(secrets.subscriptionsTokenSecret),
        WEBHOOKS_TOKEN_SECRET: pick(secrets.webhooksTokenSecret),
        CHAIN_LISTENER_TOKEN_SECRET: pick(secrets.chainListenerTokenSecret),
      },
      orders: { GATEWAY_TOKEN_SECRET: pick(secrets.ordersTokenSecret) },
      subscriptions: { GATEWAY_TOKEN_SECRET: pick(secrets.subscriptionsTokenSecret) },
      'webhook-dispatcher': { GATEWAY_TOKEN_SECRET: pick(secrets.webhooksTokenSecret) },
      'chain-listener': { GATEWAY_TOKEN_SECRET: pick(secrets.chainListenerTokenSecret) },
    })
    for (const index of [0, 1, 2]) {
      const settings = all(old => steps(old, fresh)[index] ?? fresh)
      await roll(stage, name => settings[name] ?? {})
    }
  },

  async SEAL_KEY(stage) {
    const [both, turned, alone] = steps(stage.world.place.secrets.sealKey, newSecret())
    await roll(stage, () => ({ SEAL_KEY: both ?? '' }))
    await roll(stage, () => ({ SEAL_KEY: turned ?? '' }))
    const urls = stage.replicas.opsUrls()
    for (const name of ['api-gateway 0', 'webhook-dispatcher 0']) {
      const answer = await fetch(`${urls[name]}/reseal`, { method: 'POST' })
      console.log(`${name}: ${await answer.text()}`)
    }
    await roll(stage, () => ({ SEAL_KEY: alone ?? '' }))
  },

  async 'database passwords'(stage) {
    await asAdmin(
      stage.servers,
      serviceNames
        .map(roleOf)
        .flatMap(role => [`CREATE ROLE ${role}_2 LOGIN PASSWORD 'second' IN ROLE ${role}`, `ALTER ROLE ${role}_2 SET role = '${role}'`]),
    )
    await roll(stage, name => ({ DATABASE_URL: databaseUrlAs(stage.servers, name, `${roleOf(name)}_2`, 'second') }))
    await asAdmin(
      stage.servers,
      serviceNames.map(name => `ALTER ROLE ${roleOf(name)} NOLOGIN PASSWORD NULL`),
    )
  },

  async 'broker password'(stage) {
    const { broker } = stage.servers
    await broker.control('add_user', 'ponte-2', 'second')
    await broker.control('set_permissions', '--vhost', '/', 'ponte-2', '.*', '.*', '.*')
    const url = new URL(broker.url)
    Object.assign(url, { username: 'ponte-2', password: 'second' })
    await roll(stage, () => ({ AMQP_URL: url.href }))
    await broker.control('delete_user', 'guest')
  },

  async 'keys of the identity provider'({ keys }) {
    keys.publishNext()
    await pause(CALM_MS)
    keys.signWithNext()
    await pause(CALM_MS)
    keys.withdrawFirst()
    await pause(CALM_MS)
  },
}

const firstRole = (service: ServiceName) => {
  const role = roleOf(service)
  return [`CREATE ROLE ${role} LOGIN PASSWORD 'first'`, `ALTER DATABASE ${role} OWNER TO ${role}`]
}

function databaseUrlAs(servers: Servers, service: ServiceName, username: string, password: string): string {
  const url = new URL(servers.postgres.url(service))
  Object.assign(url, { username, password })
  return url.href
}

async function asAdmin(servers: Servers, statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: servers.postgres.url('orders') })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** A JWKS as a provider publishes it while it changes its key; session tokens are the world's own, signed anew. */
async function startKeySet({ place }: World) {
  const first = newKey()
  const next = newKey()
  const theirs = ((await (await fetch(`${place.identity.url}/auth/v1/.well-known/jwks.json`)).json()) as { keys: object[] }).keys
  let published: object[] = [...theirs, first.jwk]
  let signer = first
  const server = createServer((_req, res) => {
    res.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: published }))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`,
    resign(token: string) {
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid: signer.kid })).toString('base64url')
      const text = `${header}.${token.split('.')[1]}`
      return `${text}.${sign('sha256', Buffer.from(text), { key: signer.key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    },
    publishNext: () => published.push(next.jwk),
    signWithNext() {
      signer = next
    },
    withdrawFirst() {
      published = [...theirs, next.jwk]
    },
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function newKey(): { key: KeyObject; kid: string; jwk: object } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('hex').slice(0, 16)
  return { key: privateKey, kid, jwk: { ...jwk, kid, alg: 'ES256', use: 'sig' } }
}

drill(main)
