import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@ponte/service-kit'
import { renderOverlay } from './kubernetes'
import { configs, unknownSettings } from './programs'

const root = join(__dirname, '../../..')

/** A copy of the overlays, to which what a component asks for is done. */
async function withComponent(name: string, look: (home: string) => void, change = (text: string) => text): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-component-'))
  try {
    const home = join(folder, 'infra/kubernetes')
    cpSync(join(root, 'infra'), join(folder, 'infra'), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const file = join(home, 'overlays/production/kustomization.yaml')
    writeFileSync(file, `${change(readFileSync(file, 'utf8'))}components: [../../components/${name}]\n`)
    look(home)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('a managed PostgreSQL takes the place of the operator`s, as its component states', () =>
  withComponent(
    'managed-postgres',
    home => {
      const built = spawnSync(process.execPath, [join(home, 'build-overlay.mjs'), 'production'], { encoding: 'utf8', maxBuffer: 64 << 20 })
      expect([built.status, built.stderr]).toEqual([0, ''])
      const kinds = [...built.stdout.matchAll(/^kind: (\w+)\nmetadata:[\s\S]*?^ {2}name: ([\w-]+)/gm)].map(
        ([, kind, name]) => `${kind} ${name}`,
      )
      expect(kinds).toEqual(expect.arrayContaining(['NetworkPolicy managed-postgres', 'Deployment orders']))
      expect(kinds.filter(each => /^(Cluster|Database|ScheduledBackup|ObjectStore) /.test(each))).toEqual([])
    },
    text => text.replace(/^ {2}- (?:postgres|backup)\.yaml\n/gm, ''),
  ))

it('the commands reach every replica of each program, by the ops port alone', () =>
  withComponent('network-2', home => {
    const { named, manifests, deployment } = renderOverlay('production', {}, { home, networks: ['network-2'] })
    const [{ env = [], envFrom = [] } = {}] = deployment('ops')?.template?.spec.containers ?? []
    const services = new Map(env.map(({ name, value }) => [name, /^http:\/\/([\w-]+):9090$/.exec(value ?? '')?.[1]]))
    const programs = manifests
      .filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name !== 'ops')
      .map(({ metadata }) => metadata.name)
    expect([...services.keys()].sort()).toEqual(programs.map(name => `${name.toUpperCase().replaceAll('-', '_')}_OPS_URL`).sort())
    for (const program of programs)
      expect(named('Service', services.get(`${program.toUpperCase().replaceAll('-', '_')}_OPS_URL`))?.spec).toMatchObject({
        ...{ clusterIP: 'None', publishNotReadyAddresses: true, selector: { 'app.kubernetes.io/name': program } },
        ports: [{ port: 9090 }],
      })
    expect(envFrom).toEqual([])
  }))

describe('a second network', () => {
  const given = {
    RPC_URLS: 'https://rpc.example/key',
    RELAYER_KMS_KEY: 'alias/relayer',
    GASLESS_KMS_KEY: 'alias/gasless',
    CHAIN_LISTENER_TOKEN_SECRET: 'c'.repeat(64),
  }
  const first = renderOverlay('production', given)

  it('has a listener and a relayer of its own, which their programs accept, on a database that no other role reaches', () =>
    withComponent('network-2', home => {
      const { named, deployment, containers } = renderOverlay('production', given, { home, networks: ['network-2'] })
      for (const program of ['chain-listener', 'relayer'] as const) {
        const pods = containers(`${program}-2`)
        expect(pods.map(({ args }) => args)).toEqual(containers(program).map(({ args }) => args))
        for (const { environment } of pods) {
          expect(unknownSettings(program, Object.keys(environment))).toEqual([])
          expect(readConfig(configs[program], environment)).toMatchObject({ CHAIN_ID: 137 })
          expect(environment.DATABASE_URL).toMatch(/^postgres:\/\/chain_listener_2:\w+@postgres-rw:5432\/chain_listener_2$/)
        }
        const labels = (name: string) => JSON.stringify(deployment(name)).match(/"app.kubernetes.io\/name":"[\w-]+"/g)
        expect(new Set(labels(`${program}-2`))).toEqual(new Set([`"app.kubernetes.io/name":"${program}-2"`]))
        expect(named('Service', `${program}-2`)?.spec).toMatchObject({ selector: { 'app.kubernetes.io/name': `${program}-2` } })
        expect(deployment(program)).toEqual(first.deployment(program))
      }
      expect(readConfig(configs.relayer, containers('relayer-2')[1]?.environment ?? {}).GATEWAY_TOKEN_SECRET).toEqual([
        given.CHAIN_LISTENER_TOKEN_SECRET,
      ])
      expect(containers('api-gateway').at(-1)?.environment.OTHER_CHAIN_LISTENER_URLS).toBe('http://relayer-2:8080')
      const { postgresql, managed } = named('Cluster', 'postgres')?.spec ?? {}
      expect(postgresql?.pg_hba.slice(0, 2)).toEqual([
        'host chain_listener_2 +chain_listener_2 all scram-sha-256',
        'host all +chain_listener_2 all reject',
      ])
      expect(managed?.roles.at(-1)).toEqual({
        name: 'chain_listener_2',
        login: true,
        passwordSecret: { name: 'postgres-chain-listener-2' },
      })
      expect(named('Database', 'chain-listener-2')?.spec).toMatchObject({ name: 'chain_listener_2', owner: 'chain_listener_2' })
    }))

  it('is followed by a third, a copy with 3 in the place of 2, and the gateway asks the relayers of both', () =>
    withComponent('network-2', home => {
      const folder = join(home, 'components/network-3')
      cpSync(join(home, 'components/network-2'), folder, { recursive: true })
      const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(one => one.isFile())
      const [, both] = /^# {3}(OTHER_CHAIN_LISTENER_URLS=.+)$/m.exec(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) ?? []
      for (const { parentPath, name } of names) {
        const file = join(parentPath, name)
        const text = readFileSync(file, 'utf8').replace(/(?<=[-_])2(?=\b|_)/g, '3')
        writeFileSync(
          file,
          text.replace(/(?<=^ +- )OTHER_CHAIN_LISTENER_URLS=.+$/m, kept => both ?? kept),
        )
      }
      const overlay = join(home, 'overlays/production/kustomization.yaml')
      writeFileSync(
        overlay,
        readFileSync(overlay, 'utf8').replace('components/network-2]', 'components/network-2, ../../components/network-3]'),
      )
      const { named, containers } = renderOverlay('production', given, { home, networks: ['network-2', 'network-3'] })
      expect(containers('api-gateway').at(-1)?.environment.OTHER_CHAIN_LISTENER_URLS).toBe('http://relayer-2:8080,http://relayer-3:8080')
      for (const index of [2, 3]) {
        expect(containers(`chain-listener-${index}`).at(-1)?.environment.DATABASE_URL).toContain(
          `@postgres-rw:5432/chain_listener_${index}`,
        )
        expect(named('Database', `chain-listener-${index}`)?.spec).toMatchObject({ name: `chain_listener_${index}` })
      }
    }))
})
