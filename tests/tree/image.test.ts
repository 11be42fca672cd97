import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'
import { migrate, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import { startWorld, type World } from '../world'
import { entryPoint, fromScratch, healthCheck, imageBuilder } from './deployment/image'
import { renderOverlay } from './deployment/kubernetes'
import { onLoopback } from './deployment/loopback'

// Without PONTE_TEST_IMAGES, those that differ: the one with the pages, and the one that can be started in two ways. The recipe is the same for all.
const built: readonly ServiceName[] = fromScratch ? serviceNames : ['api-gateway', 'chain-listener']
const root = join(__dirname, '../..')

describe('the image recipe, carried out in clean folders', () => {
  let world: World
  let folder: string
  let image: ReturnType<typeof imageBuilder>
  let overlay: ReturnType<typeof renderOverlay>
  const children: ChildProcess[] = []
  beforeAll(async () => {
    world = await startWorld({ amqp: testBroker() })
    folder = mkdtempSync(join(tmpdir(), 'ponte-image-'))
    image = imageBuilder(folder)
    overlay = renderOverlay('development', { RPC_URLS: world.chain.rpcUrl })
  })
  afterAll(async () => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
    await world.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(built)(
    '%s, with its production packages alone, migrates, starts as the development overlay starts it, is healthy and ends at SIGTERM',
    async (name: ServiceName) => {
      const { folder: cwd, env: baked } = image(name)
      const database = await testDatabase()
      const ports = { PORT: String(await freePort()), OPS_PORT: String(await freePort()) }
      const { url, namespace } = world.place.amqp
      // Database and broker are those of all tests, with names of their own; no load balancer has to learn of the stop.
      const servers = { DATABASE_URL: database.url, AMQP_URL: url, AMQP_NAMESPACE: namespace, LAME_DUCK_MS: '0' }
      const [migration, service] = overlay.containers(name).map(({ args, environment }) => ({
        command: [...entryPoint, ...args],
        env: { PATH: process.env.PATH, ...baked, ...onLoopback(environment, ports), ...servers },
      }))
      const [program = '', ...args] = migration?.command ?? []
      const migrated = spawnSync(program, args, { cwd, env: migration?.env, encoding: 'utf8' })
      expect([migrated.status, migrated.stdout]).toEqual([0, expect.stringContaining('"applied":["')])
      expect(await migrate(database.url, join(root, 'services', name, 'prisma/migrations'))).toEqual([])

      const [started = '', ...startedArgs] = service?.command ?? []
      const child = spawn(started, startedArgs, { cwd, env: service?.env, stdio: ['ignore', 'pipe', 'pipe'] })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
      const [checker = '', ...checks] = healthCheck
      await until(
        () => spawnSync(checker, checks, { cwd, env: service?.env }).status === 0,
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

  it('ops, which needs no package, has each of the operator’s commands and asks every address of a name', async () => {
    const { folder: cwd } = image('ops')
    const run = (args: string[], env = {}) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['ops.mjs', ...args], { cwd, env, encoding: 'utf8' })
      return { status, output: stdout + stderr }
    }
    const { status, output } = run([])
    expect(status).toBe(2)
    const commands = [...output.matchAll(/\b(?!Name|one|of\b)[a-z]+/g)].map(([command]) => command)
    expect(commands).toEqual(['status', 'reconcile', 'rescan', 'republish', 'dead', 'reseal', 'freeze'])
    for (const command of commands)
      expect(run([command])).toEqual({ status: 1, output: expect.stringMatching(/^\n(Start Ponte first|Usage: )/) })
    const nowhere = `http://127.0.0.1:${await freePort()}`
    const urls = ['API_GATEWAY', 'ORDERS', 'SUBSCRIPTIONS', 'CHAIN_LISTENER', 'WEBHOOK_DISPATCHER'].map(name => [
      `${name}_OPS_URL`,
      nowhere,
    ])
    expect(run(['status'], Object.fromEntries(urls))).toEqual({
      status: 1,
      output: expect.stringContaining(`no answer at ${nowhere}`),
    })
    expect(run(['reconcile'], Object.fromEntries(urls))).toEqual({ status: 1, output: expect.stringContaining('ECONNREFUSED') })
  })
})
