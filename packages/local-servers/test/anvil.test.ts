import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm, stat, truncate } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Anvil, openProvider, PortTakenError, startAnvil, testAccounts } from '../src'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'anvil-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function ask<Answer>({ rpcUrl, chainId }: Anvil, method: string, params: unknown[] = []): Promise<Answer> {
  const provider = openProvider(rpcUrl, chainId)
  try {
    return await provider.send(method, params)
  } finally {
    provider.destroy()
  }
}

/** A connection to anvil closes when anvil ends, so it reports the end without asking again and again. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  // A process that ends may reset the connection instead of closing it; either way it is over.
  socket.on('error', () => undefined)
  return socket.resume()
}

// Not events.once, which rejects when the connection is reset.
const closeOf = (socket: Socket) => new Promise(resolve => socket.once('close', resolve))

describe('startAnvil', () => {
  it('answers on a free port of its own, with funded accounts, until it is stopped', async () => {
    const [one, two] = await Promise.all([startAnvil({ chainId: 4_242 }), startAnvil()])
    expect(one.port).not.toBe(two.port)
    expect(await ask(one, 'eth_chainId')).toBe('0x1092')
    expect((await ask<string[]>(one, 'eth_accounts')).map(address => address.toLowerCase())).toEqual(
      testAccounts.map(({ address }) => address.toLowerCase()),
    )
    const sockets = await Promise.all([connected(one.port), connected(two.port)])
    const closed = sockets.map(closeOf)
    await Promise.all([one.stop(), two.stop(), one.stop()])
    await Promise.all(closed)
    expect(await one.exited).toBe(0)
    await one.stop()
  })

  it('names which port is taken', async () => {
    const first = await startAnvil()
    const second = startAnvil({ port: first.port })
    await expect(second).rejects.toThrow(PortTakenError)
    await expect(second).rejects.toMatchObject({ port: first.port, message: expect.stringContaining(`port ${first.port} is taken`) })
    await first.stop()
  })

  it('passes on why it would not start', async () => {
    await expect(startAnvil({ extraArgs: ['--nonsense'] })).rejects.toThrow(/unexpected argument '--nonsense'/)
    await expect(startAnvil({ binary: join(folder, 'nothing-here') })).rejects.toThrow(/nothing-here/)
    await expect(startAnvil({ startTimeoutMs: 1 })).rejects.toThrow(/did not start within 1 ms/)
  })

  it('reports when anvil ends unasked', async () => {
    const anvil = await startAnvil()
    process.kill(anvil.pid, 'SIGKILL')
    expect(await anvil.exited).toBeNull()
    await anvil.stop()
  })
})

describe('the state file', () => {
  it('continues yesterday’s chain', async () => {
    const stateFile = join(folder, 'yesterday.json')
    const before = await startAnvil({ stateFile })
    await ask(before, 'anvil_mine', [7])
    await before.stop()
    const after = await startAnvil({ stateFile })
    expect(await ask(after, 'eth_blockNumber')).toBe('0x7')
    await after.stop()
  })

  it('is put back from its copy when anvil was killed while writing it', async () => {
    const stateFile = join(folder, 'torn.json')
    const before = await startAnvil({ stateFile })
    await ask(before, 'anvil_mine', [7])
    await before.stop()
    await copyFile(stateFile, `${stateFile}.copy`)
    await truncate(stateFile, (await stat(stateFile)).size - 10)
    const after = await startAnvil({ stateFile })
    expect(await ask(after, 'eth_blockNumber')).toBe('0x7')
    await after.stop()
  })
})

describe('a process that started anvil', () => {
  const register = join(__dirname, '../../../scripts/test/register-typescript.cjs')

  /** A process that starts anvil and then runs `script`. */
  function run(script: string): ChildProcess {
    const program = join(folder, 'program.js')
    const anvil = JSON.stringify(join(__dirname, '../src/anvil/anvil'))
    writeFileSync(program, `require(${anvil}).startAnvil().then(async anvil => { console.log(anvil.port); ${script} })`)
    return spawn(process.execPath, ['--require', register, program], { stdio: ['pipe', 'pipe', 'inherit'] })
  }

  async function startedBy(child: ChildProcess): Promise<Socket> {
    const [chunk] = child.stdout ? await once(child.stdout, 'data') : []
    return connected(Number(String(chunk)))
  }

  it('takes it along when it is killed', async () => {
    const child = run('process.stdin.resume()')
    const ended = closeOf(await startedBy(child))
    child.kill('SIGKILL')
    await ended
  })

  it('is not kept alive by it, and takes it along', async () => {
    const child = run('process.stdin.once("data", () => process.stdin.destroy())')
    const ended = closeOf(await startedBy(child))
    child.stdin?.write('go')
    expect(await once(child, 'exit')).toEqual([0, null])
    await ended
  })
})
