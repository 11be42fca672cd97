import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRabbitmq } from '../src'

const { PONTE_RABBITMQ } = process.env
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-rabbitmq-'))
})
afterEach(() => {
  if (PONTE_RABBITMQ === undefined) delete process.env.PONTE_RABBITMQ
  else process.env.PONTE_RABBITMQ = PONTE_RABBITMQ
  rmSync(folder, { recursive: true, force: true })
})

it('PONTE_RABBITMQ names the server that is started, and the rabbitmqctl beside it controls it', async () => {
  const bin = join(folder, 'bin')
  const calls = join(folder, 'calls')
  mkdirSync(bin)
  const script = (name: string, then: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} "$RABBITMQ_NODENAME" "$@" >> ${calls}\n${then}\n`, { mode: 0o755 })
  script('rabbitmq-server', 'echo Server startup complete; exec sleep 600')
  script('rabbitmqctl', '')
  process.env.PONTE_RABBITMQ = join(bin, 'rabbitmq-server')
  const { control, stop } = await startRabbitmq(join(folder, 'node'), 5672)
  await control('status')
  await stop()
  const node = 'ponte-5672@localhost'
  expect(readFileSync(calls, 'utf8')).toBe(`rabbitmq-server ${node}\nrabbitmqctl ${node} --node ${node} status\n`)
})
