import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { until } from '../../src'

const children: ChildProcess[] = []

function starting(mode: string) {
  const hook =
    "require(require.resolve('@swc/core')); require('module')._extensions['.ts'] = (m, f) => m._compile(require('@swc/core').transformSync(require('fs').readFileSync(f, 'utf8'), { filename: f, module: { type: 'commonjs' }, jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } }).code, f)"
  const child = spawn(
    process.execPath,
    ['-e', `${hook}; process.argv[2] = ${JSON.stringify(mode)}; require(${JSON.stringify(join(__dirname, 'running-service.ts'))})`],
    { cwd: join(__dirname, '../../../..') },
  )
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  const ended = new Promise<{ code: number | null; signal: string | null }>(resolve =>
    child.on('exit', (code, signal) => resolve({ code, signal })),
  )
  return { child, ended, output: () => output }
}

describe('a service as a process', () => {
  afterAll(() => {
    for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('answers what is in flight on %s, stops, and ends by itself with status 0', async signal => {
    const process = starting('well')
    await until(() => process.output().includes('port '), 'it did not start')
    const port = /port (\d+)/.exec(process.output())?.[1]
    const answering = fetch(`http://127.0.0.1:${port}/slow`).then(async answer => [answer.status, await answer.json()])
    await until(() => process.output().includes('in flight'), 'the request did not arrive')
    process.child.kill(signal)
    process.child.kill(signal)
    expect(await answering).toEqual([200, { answered: true }])
    expect(await process.ended).toEqual({ code: 0, signal: null })
    expect(process.output()).toContain('"message":"stopped"')
  })

  it('serves on for its lame-duck time after SIGTERM, sending callers elsewhere, and then ends', async () => {
    const process = starting('lame-duck')
    await until(() => process.output().includes('port '), 'it did not start')
    const port = /port (\d+)/.exec(process.output())?.[1]
    process.child.kill('SIGTERM')
    await until(() => process.output().includes('stopping'), 'it did not receive the signal')
    const answer = await fetch(`http://127.0.0.1:${port}/quick`)
    expect([answer.status, answer.headers.get('connection'), await answer.json()]).toEqual([200, 'close', { answered: true }])
    expect(await process.ended).toEqual({ code: 0, signal: null })
  })

  it.each([
    ['fails-to-start', 'no database'],
    ['rejects-later', 'not caught'],
  ])('ends with status 1 and gives the reason when it %s', async (mode, reason) => {
    const process = starting(mode)
    expect(await process.ended).toEqual({ code: 1, signal: null })
    expect(process.output()).toContain(reason)
    expect(process.output()).toContain('the process ends')
  })

  it('ends with status 1 when a part cannot stop', async () => {
    const process = starting('fails-to-stop')
    await until(() => process.output().includes('port '), 'it did not start')
    process.child.kill('SIGTERM')
    expect(await process.ended).toEqual({ code: 1, signal: null })
    expect(process.output()).toContain('stuck')
  })

  it('is ended by its watchdog when its event loop stands still, and says so', async () => {
    const process = starting('well')
    await until(() => process.output().includes('port '), 'it did not start')
    const port = /port (\d+)/.exec(process.output())?.[1]
    await expect(fetch(`http://127.0.0.1:${port}/stuck`)).rejects.toThrow()
    expect(await process.ended).toEqual({ code: null, signal: 'SIGKILL' })
    expect(process.output()).toContain('"message":"the event loop stands still; the process ends"')
  })

  it('is not ended for having been stopped as a whole', async () => {
    const process = starting('well')
    await until(() => process.output().includes('port '), 'it did not start')
    const port = /port (\d+)/.exec(process.output())?.[1]
    process.child.kill('SIGSTOP')
    const stoppedAt = performance.now()
    await until(() => performance.now() - stoppedAt > 4_000, 'the clock stands still')
    process.child.kill('SIGCONT')
    expect((await fetch(`http://127.0.0.1:${port}/quick`)).status).toBe(200)
    process.child.kill('SIGTERM')
    expect(await process.ended).toEqual({ code: 0, signal: null })
  })
})
