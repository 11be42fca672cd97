import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres, startRabbitmq } from '@ponte/local-servers'
import { Client } from 'pg'
import { read } from './compose'
import type { Variables } from './container'
import type { renderOverlay } from './kubernetes'

/** PostgreSQL and RabbitMQ as a rendering leaves them before the services start. */
export interface Backing {
  /** Roles and databases, one statement each. */
  statements: readonly string[]
  /** Rules of pg_hba before the server's own. */
  rules: readonly string[]
  maxConnections: number
  broker: { username: string; password: string }
}

/** The statements of infra/postgres/create-databases.sh, with the variables that psql would put into them. */
export function scriptedDatabases(env: Variables): string[] {
  const script = read('infra/postgres/create-databases.sh')
  const statements = /<<'SQL'\n([\s\S]*?)\nSQL\n/.exec(script)?.[1]?.split('\n') ?? []
  const calls = [...script.matchAll(/^create (\w+) "\$(\w+)"$/gm)]
  return calls.flatMap(([, name = '', variable = '']) =>
    statements.map(text => text.replaceAll(':"name"', name).replaceAll(":'password'", `'${env[variable] ?? ''}'`)),
  )
}

/** The databases that CloudNativePG makes of the manifests of the production overlay. */
export function operatedDatabases({ manifests, named, secret }: ReturnType<typeof renderOverlay>): Omit<Backing, 'broker'> {
  const cluster = named('Cluster', 'postgres')?.spec
  const roles = (cluster?.managed?.roles ?? []).map(({ name, passwordSecret }) => {
    const { username, password } = secret(passwordSecret.name)
    if (username !== name) throw new Error(`The secret of the role ${name} is of ${username}.`)
    return `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`
  })
  const databases = manifests
    .filter(({ kind }) => kind === 'Database')
    .map(({ spec }) => `CREATE DATABASE ${spec?.name} OWNER ${spec?.owner}`)
  return {
    statements: [...roles, ...databases],
    rules: cluster?.postgresql?.pg_hba ?? [],
    maxConnections: Number(cluster?.postgresql?.parameters.max_connections),
  }
}

/** PostgreSQL and RabbitMQ of their own, with the roles, rules, limits and settings of the rendering. */
export async function startBacking({ statements, rules, maxConnections, broker }: Backing) {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-deployment-'))
  // PostgreSQL may have to run as another user.
  chmodSync(folder, 0o711)
  const home = join(folder, 'rabbitmq')
  mkdirSync(home)
  writeFileSync(join(home, 'rabbitmq.conf'), read('infra/rabbitmq/ponte.conf'))
  const rabbitmq = await startRabbitmq(home)
  await rabbitmq.control('add_user', broker.username, broker.password)
  await rabbitmq.control('set_permissions', '--vhost', '/', broker.username, '.*', '.*', '.*')
  await rabbitmq.control('delete_user', 'guest')
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port: 0,
    password: 'a-password',
    durable: false,
    maxConnections,
  })
  const rulesFile = join(postgres.dataDir, 'pg_hba.conf')
  const client = new Client({ connectionString: postgres.url('postgres') })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  writeFileSync(rulesFile, `${rules.join('\n')}\n${readFileSync(rulesFile, 'utf8')}`)
  await client.query('SELECT pg_reload_conf()')
  await client.end()
  return {
    postgres: `127.0.0.1:${postgres.port}`,
    broker: new URL(rabbitmq.url).host,
    async stop() {
      await postgres.stop()
      await rabbitmq.stop()
      for (const place of [postgres.dataDir, folder]) rmSync(place, { recursive: true, force: true })
    },
  }
}
