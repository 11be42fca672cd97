import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { environments, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { migrate, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { startWorld, type World } from '../world'

// Without a Docker engine: the same instructions as infra/Dockerfile's, carried out in clean folders. The set-up that the recipe begins with is
// the one that was done here before the tests; PONTE_TEST_IMAGES=1 does it again, in a clean copy of the context.
const fromScratch = process.env.PONTE_TEST_IMAGES !== undefined
// Without it, those that differ: the one with the pages, and the one that can be started in two ways. The recipe is the same for all.
const built: readonly ServiceName[] = fromScratch ? serviceNames : ['api-gateway', 'chain-listener']
const root = join(__dirname, '../..')

interface Stage {
  root: string
  folder: string
  env: Record<string, string>
}

const instructions = readFileSync(join(root, 'infra/Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter(line => line && !line.startsWith('#'))
  .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)

/** The build context: what git would commit, without what the ignore file names. */
function copyContext(target: string): void {
  const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  }).stdout.split('\n')
  for (const file of files) {
    if (!file || /(^|\/)(test|\.ci)\/|^tests\/.*\/|\.test\.ts$/.test(file)) continue
    const from = join(root, file)
    if (spawnSync('test', ['-f', from]).status !== 0) continue
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(from, join(target, file))
  }
}

/** Carries the recipe out for one service and answers the final stage. Stages that do not depend on the service are kept between calls. */
function build(service: string, folder: string, kept: Map<string, Stage>): Stage {
  const args: Record<string, string> = { SERVICE: service }
  const stages = new Map<string, Stage>()
  let stage: Stage = { root: folder, folder, env: {} }
  let name = ''
  let reused = false
  const inside = (path: string, of = stage) => (isAbsolute(path) ? join(of.root, path) : join(of.folder, path))
  const expand = (text: string) => text.replace(/\$\{?(\w+)\}?/g, (_, key: string) => args[key] ?? stage.env[key] ?? '')
  for (const [instruction, rest] of instructions) {
    if (instruction === 'FROM') {
      name = /AS (\w+)/.exec(rest)?.[1] ?? 'final'
      const known = kept.get(name)
      reused = known !== undefined
      const stageRoot = join(folder, `${name}-${service}`)
      stage = known ?? { root: stageRoot, folder: stageRoot, env: {} }
      stages.set(name, stage)
    } else if (instruction === 'ARG' && rest === 'SERVICE') {
      if (name === 'build') kept.set(name, { ...stage })
      reused = false
      stage.env.SERVICE = service
    } else if (reused) continue
    else if (instruction === 'WORKDIR') {
      stage.folder = inside(rest)
      mkdirSync(stage.folder, { recursive: true })
    } else if (instruction === 'COPY') {
      const from = /--from=(\w+) /.exec(rest)?.[1]
      const [source = '', target = ''] = rest.replace(/--from=\w+ /, '').split(' ')
      if (!from) copyContext(inside(target))
      else cpSync(inside(source, stages.get(from) ?? kept.get(from)), inside(target), { recursive: true, verbatimSymlinks: true })
    } else if (instruction === 'ENV') {
      for (const [, key = '', value = ''] of expand(rest).matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value
    } else if (instruction === 'RUN' && !rest.includes('chown')) {
      const command = rest.replace(/ \/app\b/g, ` ${join(stage.root, 'app')}`)
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, ...stage.env }
      const ran = spawnSync('/bin/sh', ['-c', command], { cwd: stage.folder, env, encoding: 'utf8', maxBuffer: 64 << 20 })
      if (ran.status !== 0) throw new Error(`RUN ${rest}\n${ran.stdout}\n${ran.stderr}`)
    }
  }
  return stage
}

describe('the image recipe, carried out in clean folders', () => {
  let world: World
  let folder: string
  const kept = new Map<string, Stage>()
  const children: ChildProcess[] = []
  beforeAll(async () => {
    world = await startWorld({ amqp: testBroker() })
    folder = mkdtempSync(join(tmpdir(), 'ponte-image-'))
    if (!fromScratch) kept.set('build', { root: join(folder, 'build'), folder: root, env: {} })
  }, 60_000)
  afterAll(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
    await world.stop()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  it.each(built)(
    '%s, with its production packages alone, migrates, starts, is healthy and ends at SIGTERM',
    async (name: ServiceName) => {
      const image = build(name, folder, kept)
      const entry = JSON.parse(instructions.find(([instruction]) => instruction === 'ENTRYPOINT')?.[1] ?? '[]') as string[]
      const database = await testDatabase()
      const opsPort = String(await freePort())
      const settings = {
        ...environments(world.place)[name],
        DATABASE_URL: database.url,
        OPS_PORT: opsPort,
        PORT: String(await freePort()),
        LOG_LEVEL: 'info',
      }
      const env = { PATH: process.env.PATH, ...image.env, ...settings }
      const [program = '', ...args] = entry
      const migrated = spawnSync(program, [...args, 'migrate'], { cwd: image.folder, env, encoding: 'utf8' })
      expect([migrated.status, migrated.stdout]).toEqual([0, expect.stringContaining('"applied":["')])
      expect(await migrate(database.url, join(root, 'services', name, 'prisma/migrations'))).toEqual([])

      const child = spawn(program, args, { cwd: image.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
      const health = JSON.parse(
        /CMD (\[.*\])/.exec(instructions.find(([each]) => each === 'HEALTHCHECK')?.[1] ?? '')?.[1] ?? '[]',
      ) as string[]
      const [checker = '', ...checks] = health
      await until(
        () => spawnSync(checker, checks, { cwd: image.folder, env }).status === 0,
        () => `${name} is not healthy:\n${output}`,
        60_000,
      )
      const ended = new Promise<number | null>(resolve => child.on('exit', resolve))
      child.kill('SIGTERM')
      expect([await ended, output]).toEqual([0, expect.not.stringContaining('"level":"error"')])
      await database.drop()
    },
    600_000,
  )
})
