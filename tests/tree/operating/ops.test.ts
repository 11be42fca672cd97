import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

// infra/compose/ops with a stand-in for the Docker client, which writes down what it is called with and fails where the test wants it to.

const root = resolve(__dirname, '../../..')
const BOTH = 'docker-compose.yml:infra/compose/production.yml'
const FAKE = `#!/bin/sh
echo "$COMPOSE_FILE $*" >> "$CALLS"
case "$*" in *"\${FAIL:-no such call}"*) exit 7 ;; esac
`
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-ops-'))
  mkdirSync(join(folder, 'infra/compose'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  cpSync(join(root, 'infra/compose/ops'), join(folder, 'infra/compose/ops'))
  writeFileSync(join(folder, '.env'), 'ORDERS_PAUSED=false\nORDERS_REPLICAS=2\n')
  writeFileSync(join(folder, 'bin/docker'), FAKE)
  chmodSync(join(folder, 'bin/docker'), 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Compose's commands in their order, each with the files that it merges, and how it ended. */
function ops(args: string[], fail?: string) {
  const calls = join(folder, 'calls')
  writeFileSync(calls, '')
  const { status, stderr } = spawnSync(join(folder, 'infra/compose/ops'), args, {
    env: { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter), CALLS: calls, ...(fail && { FAIL: fail }) },
    encoding: 'utf8',
    input: '',
  })
  const lines = readFileSync(calls, 'utf8').split('\n').filter(Boolean)
  for (const line of lines) expect(line.startsWith(`${BOTH} compose `)).toBe(true)
  return { status, stderr, calls: lines.map(line => line.slice(BOTH.length + ' compose '.length)) }
}

const RUN = 'run --rm --no-deps restore'
const UP = 'up --detach --no-recreate --wait'

it('freeze pauses orders in .env, and keeps what else stands there', () => {
  expect(ops(['freeze', 'on'])).toMatchObject({ status: 0, calls: ['up --detach --no-deps --wait orders'] })
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('ORDERS_REPLICAS=2\nORDERS_PAUSED=true\n')
  expect(ops(['freeze', 'off']).status).toBe(0)
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('ORDERS_REPLICAS=2\nORDERS_PAUSED=false\n')
  expect(ops(['freeze', 'perhaps'])).toMatchObject({ status: 1, calls: [] })
})

it('restore-one prepares beside the live database, and only then stops, exchanges and starts its service', () => {
  const { status, calls } = ops(['restore-one', 'chain_listener', '2026-11-22 14:00:00+00', '--yes'])
  expect([status, calls]).toEqual([
    0,
    [`${RUN} prepare chain_listener 2026-11-22 14:00:00+00`, 'stop chain-listener relayer', `${RUN} swap chain_listener`, UP],
  ])
})

it.each([
  ['is not prepared', 'prepare', [`${RUN} prepare orders latest`]],
  ['cannot be exchanged', 'swap', [`${RUN} prepare orders latest`, 'stop orders', `${RUN} swap orders`, UP]],
])('a database that %s leaves its service running, and ends with an error', (_what, fail, calls) => {
  expect(ops(['restore-one', 'orders', 'latest', '--yes'], fail)).toMatchObject({ status: 7, calls })
})

it('changes nothing without a yes, and for no database that is not ours', () => {
  expect(ops(['restore-one', 'orders', 'latest'])).toMatchObject({ status: 1, calls: [`${RUN} prepare orders latest`] })
  expect(ops(['restore-done', 'orders'])).toMatchObject({ status: 1, calls: [] })
  const unknown = ops(['restore-one', 'postgres', 'latest', '--yes'])
  expect(unknown).toMatchObject({ status: 1, calls: [] })
  expect(unknown.stderr).toContain('Not a database of ours')
})
