import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, setUp } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { localServers } from './with-servers.mjs'

// infra/compose/pgbackrest.conf and restore.sh, tried on Debian's pgBackRest and PostgreSQL, and the Caddyfile on its Caddy: archive, full and differential backup, restore of the whole server and of one
// database to a moment, each step failing once and being killed once. Only paths differ from those of compose, and releases before 2.46 have `repo1-block` as beta.

await setUp().catch(fail)
const { findProgram, freePort, installDebianPackage } = localServers()
const PASSPHRASE = 'a-passphrase-of-this-trial'
const START_S = '60'

async function main() {
  const pgbackrest = await required('pgbackrest', 'pgbackrest')
  const caddy = await required('caddy', 'caddy')
  const bin = await postgresPrograms()
  const folder = mkdtempSync(join(tmpdir(), 'ponte-backups-'))
  const owner = process.getuid() === 0 ? idsOf('postgres') : {}
  try {
    validateProxy(caddy, folder)
    if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
    await attempt({ pgbackrest, bin, folder, owner })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function attempt({ pgbackrest, bin, folder, owner }) {
  const [data, repository, copies] = ['data', 'backup', 'copies'].map(name => join(folder, name))
  const port = await freePort()
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    LC_ALL: 'C.UTF-8',
    PGBACKREST_CONFIG: join(root, 'infra/compose/pgbackrest.conf'),
    PGBACKREST_REPO1_CIPHER_PASS: PASSPHRASE,
    PGBACKREST_REPO1_PATH: repository,
    PGBACKREST_LOCK_PATH: join(folder, 'lock'),
    PGBACKREST_SPOOL_PATH: join(folder, 'spool'),
    PGBACKREST_PG1_SOCKET_PATH: folder,
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_PATH: data,
    ...(isBefore(versionOf(pgbackrest), [2, 46]) ? { PGBACKREST_BETA: 'y' } : {}),
    ...{ PGHOST: folder, PGPORT: String(port), PGUSER: 'postgres', PGDATA: data },
    ...{ SERVER_SETTINGS: join(root, 'infra/postgres/ponte.conf'), RESTORE_FOLDER: copies, RESTORE_WAIT_S: START_S },
  }
  const run = (program, ...args) => execute(program, args, { env, ...owner })
  const sql = (database, text) => run('psql', '-XAtq', '-d', database, '-c', text)
  const given = [
    `config_file=${env.SERVER_SETTINGS}`,
    ...['listen_addresses=', `port=${port}`, `unix_socket_directories=${folder}`, 'fsync=off'],
    ...['archive_mode=on', 'archive_timeout=60', `archive_command=${pgbackrest} --stanza=ponte archive-push %p`],
  ]
  const live = {
    start: () => run('pg_ctl', '-w', '-t', START_S, '-l', join(folder, 'log'), '-o', given.map(one => `-c '${one}'`).join(' '), 'start'),
    stop: () => run('pg_ctl', '-w', '-m', 'fast', 'stop'),
    isRunning: () => spawnSync('pg_ctl', ['status'], { env, cwd: '/', ...owner }).status === 0,
  }
  const rows = database => sql(database, "SELECT coalesce(string_agg(name, ',' ORDER BY name), '') FROM paid").trim()
  const databases = () =>
    sql('postgres', "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database WHERE datname ~ '^orders'").trim()
  const moment = () => sql('postgres', 'SELECT clock_timestamp()').trim()
  let inserted = 0
  const insert = database => sql(database, `INSERT INTO paid VALUES ('row ${++inserted}')`)

  // backup.sh as its container runs it; it ends where it would sleep until the next day.
  const aids = join(folder, 'aids')
  mkdirSync(aids)
  writeFileSync(join(aids, 'sleep'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const scheduled = () =>
    spawnSync('sh', [join(root, 'infra/compose/backup.sh')], { cwd: '/', env: { ...env, PATH: `${aids}:${env.PATH}` }, ...owner })
  const counter = join(folder, 'steps')
  const shims = makeShims(join(folder, 'shims'), bin, pgbackrest, counter)
  /** The command of the runbook; with `breaks`, its step of that number fails or has the whole of it killed. */
  const restore = (args, breaks) => {
    rmSync(counter, { force: true })
    const shimmed = breaks ? { PATH: `${shims}:${env.PATH}`, BREAK_AT: String(breaks.at), BREAK_BY: breaks.by } : {}
    const options = { env: { ...env, ...shimmed }, encoding: 'utf8', cwd: '/', detached: true, ...owner }
    const result = spawnSync(join(root, 'infra/compose/restore.sh'), args, options)
    const output = `${result.stdout}${result.stderr}`
    if (!breaks && result.status !== 0) throw new StepError(`restore ${args.join(' ')}:\n${output}`)
    return { isDone: result.status === 0, steps: existsSync(counter) ? readFileSync(counter, 'utf8').length : 0, output }
  }
  const refused = (...args) => {
    try {
      restore(args)
    } catch {
      return true
    }
    return false
  }

  for (const each of [repository, copies]) run('mkdir', '-p', each)
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8')
  live.start()
  try {
    for (const name of DATABASES) {
      sql('postgres', `CREATE ROLE ${name} LOGIN`)
      sql('postgres', `CREATE DATABASE ${name} OWNER ${name}`)
      sql(
        name,
        `CREATE TABLE paid (name text); ALTER TABLE paid OWNER TO ${name}; CREATE UNLOGGED TABLE windows (id int); INSERT INTO windows VALUES (1)`,
      )
      insert(name)
    }
    sql('postgres', 'REVOKE ALL ON DATABASE orders FROM PUBLIC')
    run('pgbackrest', '--stanza=ponte', 'stanza-create')
    scheduled()
    insert('orders')
    scheduled()
    const kinds = [...run('pgbackrest', '--stanza=ponte', 'info').matchAll(/(full|diff) backup:/g)].map(([, kind]) => kind)
    expect('a full backup, and what changed since', kinds.join() === 'full,diff')
    insert('orders')
    const kept = rows('orders')
    const [, T] = [sql('postgres', 'SELECT pg_sleep(1)'), moment()]
    insert('orders')
    expect('encrypted', readdirSync(repository).length > 0 && spawnSync('grep', ['-rqa', 'subscriptions', repository]).status === 1)

    expect('a moment before every backup is refused', refused('prepare', 'orders', '2020-01-01 00:00:00+00'))
    expect('a moment to come is refused', refused('prepare', 'orders', '2220-01-01 00:00:00+00'))
    expect(
      'an unknown database is refused',
      refused('prepare', 'payroll', T) && refused('prepare', 'postgres', T) && refused('swap', 'orders'),
    )
    expect('what lives is as it was', databases() === 'orders')
    await broken('prepare orders, broken at every step', ['prepare', 'orders', T], () => {
      insert('orders')
      const all = sql('orders', 'SELECT count(*) FROM paid').trim()
      return Number(all) === inserted - OTHERS && !databases().includes('before')
    })
    expect('a copy beside the live one', databases() === 'orders,orders_restored' && rows('orders_restored') === kept)
    expect('a copy is not made twice', refused('prepare', 'orders', T))
    const holder = spawn('psql', ['-Xqd', 'orders', '-c', 'SELECT pg_sleep(600)'], { env, cwd: '/', stdio: 'ignore', ...owner })
    await until(() => sql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE datname = 'orders'").trim() === '1')
    expect('a database in use is not swapped', refused('swap', 'orders') && databases() === 'orders,orders_restored')
    sql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'orders'")
    await until(() => holder.exitCode !== null)
    await broken('swap, broken at every step', ['swap', 'orders'], () => {
      const before = databases().includes('orders_before') ? 'orders_before' : 'orders'
      return Number(sql(before, 'SELECT count(*) FROM paid')) === inserted - OTHERS
    })
    expect('swapped', rows('orders') === kept && databases() === 'orders,orders_before')
    expect(
      'of its role alone',
      sql(
        'postgres',
        "SELECT has_database_privilege('subscriptions', 'orders', 'CONNECT') || ' ' || pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'orders'",
      ).trim() === 'false orders',
    )
    restore(['back', 'orders'])
    expect('and back', Number(sql('orders', 'SELECT count(*) FROM paid')) === inserted - OTHERS)
    restore(['drop', 'orders'])
    expect('the live one alone is left', databases() === 'orders')

    await broken('prepare all, broken at every step', ['prepare', 'all', T], () => {
      insert('orders')
      return Number(sql('orders', 'SELECT count(*) FROM paid')) === inserted - OTHERS
    })
    expect('a server that runs is not swapped', refused('swap', 'all'))
    live.stop()
    await broken('swap all, broken at every step', ['swap', 'all'], () =>
      [data, `${data}-before`].some(place => existsSync(join(place, 'PG_VERSION'))),
    )
    live.start()
    await until(() => sql('postgres', 'SELECT pg_is_in_recovery()').trim() === 'f')
    expect('the whole server to a moment', rows('orders') === kept && rows('subscriptions') !== '')
    // After a restore there are backups again, and one can restore to them.
    scheduled()
    insert('orders')
    insert('orders')
    live.stop()
    restore(['back', 'all'])
    live.start()
    expect('and back', Number(sql('orders', 'SELECT count(*) FROM paid')) === inserted - OTHERS - 2)
    // The archive has a newer history now, which was given up.
    restore(['drop', 'all'])
    scheduled()
    // A backup of the moment's own second is not taken, and the one before is of the other history (docs/operating/recover.md).
    sql('postgres', 'SELECT pg_sleep(1)')
    insert('orders')
    const [lived, then] = [rows('orders'), moment()]
    insert('orders')
    await restoreWhole(then)
    expect('a moment after a return from a restore', rows('orders') === lived)
    restore(['drop', 'all'])
    await restoreWhole(then)
    expect('the same once more, before there is a backup of it', rows('orders') === lived)
    restore(['drop', 'all'])
    scheduled()
    insert('orders')
    const [since, later] = [rows('orders'), moment()]
    insert('orders')
    await restoreWhole(later)
    expect('a moment after a restore', rows('orders') === since)
    insert('orders')
    sql('postgres', 'SELECT pg_switch_wal()')
    run('pgbackrest', '--stanza=ponte', 'check')
    const newest = rows('orders')
    live.stop()
    renameSync(data, `${data}-lost`)
    rmSync(`${data}-before`, { recursive: true })
    restore(['prepare', 'all', 'latest'])
    restore(['swap', 'all'])
    live.start()
    await until(() => sql('postgres', 'SELECT pg_is_in_recovery()').trim() === 'f')
    expect('a machine that was lost, to the end of its log', rows('orders') === newest)
    console.log(run('pgbackrest', '--stanza=ponte', 'info'))
    console.log(`PASSED with ${run('pgbackrest', 'version').trim()} and ${run('postgres', '--version').trim()}.`)
  } finally {
    if (live.isRunning()) live.stop()
  }

  async function restoreWhole(moment) {
    sql('postgres', 'SELECT pg_sleep(1)')
    restore(['prepare', 'all', moment])
    live.stop()
    restore(['swap', 'all'])
    live.start()
    await until(() => sql('postgres', 'SELECT pg_is_in_recovery()').trim() === 'f')
  }

  /** Each step of a command fails once, and once the whole is killed there; `holds` is true each time, and at last the command is repeated and does it. */
  async function broken(what, args, holds) {
    let tries = 0
    for (const by of ['failure', 'kill']) {
      for (let at = 1; ; at++) {
        const { isDone, steps, output } = restore(args, { at, by })
        tries++
        for (const place of [join(copies, 'restoring/data'), `${data}-restoring`]) killServer(place)
        if (!holds()) throw new StepError(`Not as it should be: ${what}, by ${by} at ${at}:\n${output}`)
        const isWhole = steps < at
        if (isWhole && !isDone) throw new StepError(`${what} failed at no step of ours:\n${output}`)
        // Done for good once; a step whose failure is a warning is done as well, and is undone for the next.
        if (isDone && !(isWhole && by === 'kill')) undo(args)
        if (isWhole) break
      }
    }
    console.log(`✓ ${what} (${tries} times)`)
  }

  function undo([verb, database]) {
    if (verb === 'swap') restore(['back', database])
    else restore(['drop', database])
  }
}

const DATABASES = ['api_gateway', 'orders', 'subscriptions', 'chain_listener', 'webhook_dispatcher']
/** The rows that are not of orders. */
const OTHERS = DATABASES.length - 1
const STEPS = ['pgbackrest', 'psql', 'pg_ctl', 'pg_dump', 'pg_restore', 'mkdir', 'mv', 'rm', 'touch', 'sed', 'du', 'df']

/** Programs that stand before those of the same name: the one of number BREAK_AT fails, or kills all that runs with it. */
function makeShims(folder, bin, pgbackrest, counter) {
  mkdirSync(folder)
  for (const name of STEPS) {
    const real = name === 'pgbackrest' ? pgbackrest : name.startsWith('p') ? join(bin, name) : findProgram(name)
    // Not of ours: the archive's command, and what the server beside fetches its log by.
    const ours = name === 'pgbackrest' ? 'case "$*" in *archive-*) exec "$real" "$@" ;; esac\n' : ''
    writeFileSync(
      join(folder, name),
      `#!/bin/bash
real=${real}
${ours}printf x >> ${counter}
if [ "$(wc -c < ${counter})" = "$BREAK_AT" ]; then
  if [ "$BREAK_BY" = kill ]; then kill -9 0; fi
  exit 1
fi
exec "$real" "$@"
`,
      { mode: 0o755 },
    )
  }
  return folder
}

/** With its container the server of a killed run would have died. */
function killServer(place) {
  const file = join(place, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0])
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

async function until(holds) {
  for (let tries = 0; tries < 600; tries++) {
    if (holds()) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new StepError('It did not come about in a minute.')
}

/** Caddy reads its file and builds every module that it names; it listens to nothing. */
function validateProxy(caddy, folder) {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, PUBLIC_URL: 'https://pay.example.com' }
  execute(caddy, ['validate', '--adapter', 'caddyfile', '--config', join(root, 'infra/compose/Caddyfile')], { env })
  console.log(`✓ Caddyfile, by Caddy ${execute(caddy, ['version'], { env }).trim()}`)
}

function expect(what, isTrue) {
  if (!isTrue) throw new StepError(`Not as it should be: ${what}.`)
  console.log(`✓ ${what}`)
}

function execute(program, args, options) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', cwd: '/', stdio: ['ignore', 'pipe', 'pipe'], ...options })
  } catch (error) {
    throw new StepError(`${program} ${args.join(' ')}:\n${error.stdout ?? ''}${error.stderr ?? error.message}`)
  }
}

async function required(program, packageName) {
  if (!findProgram(program))
    await installDebianPackage(packageName, 'npm run compose-trial').catch(({ message }) => fail(new StepError(message)))
  return findProgram(program)
}

/** Debian's PostgreSQL, the newest: pgBackRest has to support its version. */
async function postgresPrograms() {
  const home = '/usr/lib/postgresql'
  const versions = () => (existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : [])
  if (versions().length === 0) await installDebianPackage('postgresql', 'npm run compose-trial')
  return join(home, versions()[0] ?? '', 'bin')
}

const versionOf = program => (/(\d+)\.(\d+)/.exec(execFileSync(program, ['version'], { encoding: 'utf8' })) ?? []).slice(1).map(Number)
const isBefore = ([major, minor], [wantedMajor, wantedMinor]) => major < wantedMajor || (major === wantedMajor && minor < wantedMinor)

const idsOf = user => {
  const id = flag => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

await main().catch(fail)
