import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, setUp } from '../develop/setup.mjs'
import { fail, StepError } from '../develop/steps.mjs'
import { localServers } from './with-servers.mjs'

// infra/compose/pgbackrest.conf and the commands of docs/operating/recover.md, tried on Debian's pgBackRest and PostgreSQL, and the Caddyfile on its Caddy: archive, full and differential backup,
// restore of the whole server to a moment, and of one database of it. Only paths differ from those of compose, and releases before 2.46 have `repo1-block` as beta.

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
  const [data, repository] = [join(folder, 'data'), join(folder, 'backup')]
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
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
  }
  const run = (program, ...args) => execute(program, args, { env, ...owner })
  const backrest = (...args) => run(pgbackrest, '--stanza=ponte', ...args)
  const sql = (database, text) => run(join(bin, 'psql'), '-XAtqh', folder, '-p', String(port), '-U', 'postgres', '-d', database, '-c', text)
  const start = (pg, ...settings) => {
    const given = ['listen_addresses=', `port=${port}`, `unix_socket_directories=${folder}`, ...settings].map(one => `-c '${one}'`)
    const args = ['-D', pg, '-w', '-t', START_S, '-l', join(folder, 'log'), '-o', given.join(' '), 'start']
    // The log is fetched for the server that asks for it.
    execute(join(bin, 'pg_ctl'), args, { env: { ...env, PGBACKREST_PG1_PATH: pg }, ...owner })
  }
  const stop = pg => run(join(bin, 'pg_ctl'), '-D', pg, '-w', '-m', 'fast', 'stop')
  const archived = ['archive_mode=on', 'archive_timeout=60', `archive_command=${pgbackrest} --stanza=ponte archive-push %p`]
  const inserted = (database, row) => sql(database, `INSERT INTO paid VALUES ('${row}')`)
  const rows = database => sql(database, "SELECT string_agg(name, ',' ORDER BY name) FROM paid").trim()
  // backup.sh as its container runs it; it ends where it would sleep until the next day.
  const aids = join(folder, 'aids')
  mkdirSync(aids)
  writeFileSync(join(aids, 'sleep'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const scheduled = () =>
    spawnSync('sh', [join(root, 'infra/compose/backup.sh')], { cwd: '/', env: { ...env, PATH: `${aids}:${env.PATH}` }, ...owner })
  const running = new Set()
  const started = (pg, ...settings) => {
    start(pg, ...settings)
    running.add(pg)
  }
  const stopped = pg => {
    stop(pg)
    running.delete(pg)
  }
  run('mkdir', '-p', repository)
  run(join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8')
  try {
    started(data, ...archived)
    for (const name of ['orders', 'subscriptions']) {
      sql('postgres', `CREATE DATABASE ${name}`)
      sql(name, 'CREATE TABLE paid (name text)')
      inserted(name, 'before')
    }
    backrest('stanza-create')
    backrest('check')
    scheduled()
    inserted('orders', 'since')
    scheduled()
    const kinds = [...backrest('info').matchAll(/(full|diff) backup:/g)].map(([, kind]) => kind)
    expect('a full backup, and what changed since', kinds.join() === 'full,diff')
    inserted('orders', 'until')
    const moment = sql('postgres', 'SELECT clock_timestamp()').trim()
    for (const name of ['orders', 'subscriptions']) inserted(name, 'after')
    sql('postgres', 'SELECT pg_switch_wal()')
    stopped(data)
    expect('encrypted', readdirSync(repository).length > 0 && spawnSync('grep', ['-rqa', 'subscriptions', repository]).status === 1)

    backrest('--delta', '--type=time', `--target=${moment}`, '--target-action=promote', 'restore')
    started(data, 'archive_mode=off')
    promoted(sql)
    expect('the whole server to a moment', rows('orders') === 'before,since,until' && rows('subscriptions') === 'before')
    stopped(data)

    const beside = join(folder, 'beside')
    mkdirSync(beside, { mode: 0o700 })
    if (owner.uid !== undefined) chownSync(beside, owner.uid, owner.gid)
    const alone = ['--db-include=orders', '--type=time', `--target=${moment}`, '--target-action=promote', 'restore']
    execute(pgbackrest, ['--stanza=ponte', ...alone], { env: { ...env, PGBACKREST_PG1_PATH: beside }, ...owner })
    started(beside, 'archive_mode=off')
    promoted(sql)
    expect('one database of it', rows('orders') === 'before,since,until')
    const dump = join(folder, 'orders.dump')
    run(join(bin, 'pg_dump'), '-h', folder, '-p', String(port), '-U', 'postgres', '-F', 'custom', '-f', dump, 'orders')
    expect('its dump', existsSync(dump))
    stopped(beside)
    console.log(backrest('info'))
    console.log(`PASSED with ${run(pgbackrest, 'version').trim()} and ${run(join(bin, 'postgres'), '--version').trim()}.`)
  } finally {
    for (const pg of running) stop(pg)
  }
}

/** Caddy reads its file and builds every module that it names; it listens to nothing. */
function validateProxy(caddy, folder) {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, PUBLIC_URL: 'https://pay.example.com' }
  execute(caddy, ['validate', '--adapter', 'caddyfile', '--config', join(root, 'infra/compose/Caddyfile')], { env })
  console.log(`✓ Caddyfile, by Caddy ${execute(caddy, ['version'], { env }).trim()}`)
}

/** A restored server answers before it has replayed all of the log. */
function promoted(sql) {
  for (let tries = 0; tries < 600; tries++) {
    if (sql('postgres', 'SELECT pg_is_in_recovery()').trim() === 'f') return
    spawnSync('sleep', ['0.1'])
  }
  throw new StepError('The restored server is not promoted.')
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
