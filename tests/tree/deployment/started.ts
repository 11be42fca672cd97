import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { endProcess, serviceNames, startProgram } from '@ponte/all-in-one'
import type { MerchantWithKeyBody, OrderBody } from '@ponte/contracts'
import { freePort } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, MERCHANT, pay } from '../../world'
import type { Container, Variables } from './container'
import { entryPoint, imageBuilder } from './image'
import { onLoopback } from './loopback'
import { type ProgramName, programs } from './programs'
import { renderings } from './renderings'
import { startBacking } from './servers'
import { startIdentity, startSecondNode, startSources } from './surroundings'

// Each rendering, as an operator makes it, started as its orchestrator starts it: from images that were built by the recipe, by entry point, arguments and environment
// of each container, on PostgreSQL and RabbitMQ with the roles, rules and settings that it gives them.

/** Rejects with the output of a program that does not end with code 0. */
const execute = promisify(execFile)
const linesOf = (output: readonly string[]) => output.join('').split('\n')
const PAID_MS = 180_000
/** Confirmations that a production rendering waits for. */
const DEPTH = 12
const imageOf = (program: ProgramName) => (program === 'relayer' ? 'chain-listener' : program)
/** The renderings' names of the owners that the gateway asks. */
const owners = programs.filter(name => name !== 'api-gateway' && name !== 'chain-listener')

const stops: (() => Promise<unknown>)[] = []
function started<T extends { stop(): Promise<unknown> }>(one: T): T {
  stops.push(one.stop)
  return one
}
let folder: string
let images: ReadonlyMap<string, ReturnType<ReturnType<typeof imageBuilder>>>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-images-'))
  const build = imageBuilder(folder)
  images = new Map(serviceNames.map(name => [name, build(name)]))
}, 600_000)
afterEach(async () => {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function found<T>(one: T | undefined, what: string): T {
  if (one === undefined) throw new Error(`There is no ${what}.`)
  return one
}

it.each(Object.keys(renderings))(
  '%s: every program starts, an order is taken and paid, every program ends with code 0',
  async name => {
    const kind = found(renderings[name], `rendering ${name}`)
    const chain = started(await kind.startChain())
    const identity = started(await startIdentity(kind.issuer))
    const secondNode = started(await startSecondNode(chain))
    const sources = started(await startSources())
    const rendering = kind.render({ chain, secondNodeUrl: secondNode.url, sources: sources.host, identity })
    const backing = started(await startBacking(rendering.backing))
    const ports = new Map<ProgramName, { PORT: string; OPS_PORT: string }>()
    for (const program of programs) ports.set(program, { PORT: String(await freePort()), OPS_PORT: String(await freePort()) })
    const portsOf = (program: ProgramName) => found(ports.get(program), `port of ${program}`)
    const moved = new Map([
      [rendering.servers.postgres, `@${backing.postgres}`],
      [rendering.servers.broker, `@${backing.broker}`],
      ...owners.map(owner => [`http://${owner}:8080`, `http://127.0.0.1:${portsOf(owner).PORT}`] as const),
      ...rendering.moved,
    ])
    // Nothing stands in the list of what differs here that the rendering does not have.
    const rendered = programs.flatMap(program =>
      rendering.containers(program).map(({ environment }) => Object.values(environment).join('\n')),
    )
    for (const text of moved.keys()) expect([text, rendered.some(values => values.includes(text))]).toEqual([text, true])

    const processes = await Promise.all(
      programs.map(async program => {
        const { folder: cwd, env: baked } = found(images.get(imageOf(program)), `image of ${program}`)
        const made = ({ args, environment }: Container): { command: string[]; env: Variables } => ({
          command: [...entryPoint, ...args],
          env: { PATH: process.env.PATH ?? '', ...baked, ...onLoopback(environment, portsOf(program), moved) },
        })
        const containers = rendering.containers(program).map(made)
        const service = found(containers.pop(), `container of ${program}`)
        for (const { command, env } of containers) {
          const [first = '', ...rest] = command
          await execute(first, rest, { cwd, env })
        }
        const running = startProgram(program, service.command, { cwd, env: { ...service.env, ...portsOf(program) } })
        started({ stop: () => endProcess(running.child, 'SIGKILL') })
        await running.ready
        return { program, ...running }
      }),
    )

    const gatewayUrl = `http://127.0.0.1:${portsOf('api-gateway').PORT}`
    const merchant = await call<MerchantWithKeyBody>(gatewayUrl, 'POST', '/api/v1/merchants', await rendering.token(), {
      display_name: 'Padaria Estrela',
      webhook_url: null,
      payout_address: MERCHANT.address,
    })
    const order = await call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
    await pay(chain, order)
    await chain.mine(DEPTH)
    const read = () => call<OrderBody>(gatewayUrl, 'GET', `/api/v1/orders/${order.id}`, merchant.api_key)
    await until(
      async () => (await read()).status === 'paid',
      async () => `the order is ${(await read()).status}`,
      PAID_MS,
    )
    const ends = await Promise.all(processes.map(async ({ program, child }) => [program, await endProcess(child, 'SIGTERM')]))
    expect(ends).toEqual(programs.map(program => [program, 0]))
    const errors = processes.flatMap(({ program, output }) =>
      linesOf(output)
        .filter(line => line.includes('"level":"error"'))
        .map(line => [program, line]),
    )
    expect(errors).toEqual([])
  },
  600_000,
)
