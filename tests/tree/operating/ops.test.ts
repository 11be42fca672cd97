import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

it('knows the services and the databases of further networks that .env has', () => {
  expect(ops(['roll', 'chain-listener-2', '--yes'])).toMatchObject({ status: 1, calls: [] })
  writeFileSync(join(folder, '.env'), 'COMPOSE_PROFILES=monitoring,network-2\n')
  const restored = ops(['restore-one', 'chain_listener_2', '2026-11-22 14:00:00+00', '--yes'])
  expect(restored.calls).toContain('stop chain-listener-2 relayer-2')
  expect(ops(['restore-all', 'latest', '--yes']).calls).toContain(
    'stop api-gateway orders subscriptions chain-listener relayer webhook-dispatcher chain-listener-2 relayer-2 backup postgres',
  )
})

it('restore-one prepares beside the live database, and only then stops, exchanges and starts its service', () => {
  const { status, calls } = ops(['restore-one', 'chain_listener', '2026-11-22 14:00:00+00', '--yes'])
  expect([status, calls]).toEqual([
    0,
    [
      `${RUN} prepare chain_listener 2026-11-22 14:00:00+00`,
      'stop chain-listener relayer',
      `${RUN} swap chain_listener`,
      `${UP} chain-listener relayer`,
    ],
  ])
})

it.each([
  ['is not prepared', 'prepare', [`${RUN} prepare orders latest`]],
  ['cannot be exchanged', 'swap', [`${RUN} prepare orders latest`, 'stop orders', `${RUN} swap orders`, `${UP} orders`]],
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

describe('roll', () => {
  // Replicas are files that hold what Compose and Docker would state of them: the hash of their settings and the image.
  const ENGINE = `#!/bin/bash
cd "$REPLICAS"
case "$*" in
'compose config --hash orders') echo "orders $SETTINGS" ;;
'compose config orders') printf 'services:\\n  orders:\\n    deploy:\\n      replicas: 2\\n    image: ponte/orders:1\\n%s  postgres:\\n    image: postgres\\n' "$PORTS" ;;
'compose ps --quiet orders') ls ;;
'compose up --detach --no-deps --no-recreate --no-build --scale orders='*) until [ "$(ls | wc -l)" -ge "$(sed 's/.*=\\([0-9]*\\) .*/\\1/' <<<"$*")" ]; do echo "$SETTINGS $IMAGE" >"$(mktemp "replica-XXXX")"; done ;;
'image inspect'*) [ -n "$IMAGE" ] && echo "$IMAGE" ;;
'inspect --format {{ index'*) cat "\${!#}" ;;
exec*) [ "$2" != "$ILL" ] && { [ "$READY" = yes ] || grep --quiet before "$2"; } ;;
'stop '* | 'rm --force '*) [ "$1" = stop ] || rm "\${@:3}" ;;
'rm '*) rm "\${@:2}" ;;
esac
`
  const roll = (settings: object, ...options: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, 'infra/compose/ops'), ['roll', 'orders', ...options], {
      env: {
        PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
        ...{ REPLICAS: join(folder, 'replicas'), SETTINGS: 'now', IMAGE: 'image', READY: 'yes', PORTS: '' },
        ...{ ROLL_WAIT_S: '1', SEEN_AFTER_S: '0', ...settings },
      },
      encoding: 'utf8',
      input: '',
    })
    const replicas = readdirSync(join(folder, 'replicas')).map(name => readFileSync(join(folder, 'replicas', name), 'utf8').trim())
    return { status, output: stdout + stderr, replicas: replicas.sort() }
  }
  beforeEach(() => {
    mkdirSync(join(folder, 'replicas'))
    for (const name of ['one', 'two']) writeFileSync(join(folder, 'replicas', name), 'before image\n')
    writeFileSync(join(folder, 'bin/docker'), ENGINE)
  })

  const BEFORE = ['before image', 'before image']
  const NOW = ['now image', 'now image']

  it('replaces replicas of other settings or of another image, and repeated does nothing', () => {
    expect(roll({}, '--yes')).toMatchObject({ status: 0, replicas: NOW })
    expect(roll({}, '--yes')).toMatchObject({
      status: 0,
      output: 'orders: 2 of ponte/orders:1 run already, with the settings of .env.\n',
      replicas: NOW,
    })
    expect(roll({ IMAGE: 'newer' }, '--yes')).toMatchObject({ status: 0, replicas: ['now newer', 'now newer'] })
  })

  it('goes on where it was ended', () => {
    writeFileSync(join(folder, 'replicas', 'three'), 'now image\n')
    expect(roll({}, '--yes')).toMatchObject({
      status: 0,
      replicas: NOW,
      output: expect.stringContaining('2 of ponte/orders:1, 1 of which are there, beside 2 of before'),
    })
  })

  it.each<[string, object, string]>([
    ['new ones that do not become ready', { READY: 'no' }, 'those of before serve on'],
    ['one of before that is not ready', { ILL: 'one' }, 'is not ready'],
    ['an image that is not there', { IMAGE: '' }, 'There is no image ponte/orders:1'],
    ['a published port', { PORTS: '    ports:\n      - mode: ingress\n        published: "8080"\n' }, 'has a port of this machine'],
  ])('%s: those of before stay', (_what, settings, output) => {
    expect(roll(settings, '--yes')).toMatchObject({ status: 1, replicas: BEFORE, output: expect.stringContaining(output) })
  })

  it('changes nothing without a yes, and with --force replaces what is not ready', () => {
    expect(roll({})).toMatchObject({ status: 1, replicas: BEFORE })
    expect(roll({ ILL: 'one' }, '--yes', '--force')).toMatchObject({ status: 0, replicas: NOW })
  })
})
