import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Kept by the command line for one Ponte, readable by its owner alone. */
export interface Profile {
  base_url: string
  api_key: string
  /** For what only the merchant's user may do. */
  session?: { auth_url: string; client_key: string; refresh_token: string }
  /** The user of a system in this folder; never kept. */
  user?: { auth_url: string; client_key: string; email: string; password: string }
  /** `ponte listen`: the secret that it made to sign with, and for each target the cursor of the last event that was forwarded. */
  listen?: { secret?: string; positions: Record<string, string | number> }
}

export interface ProfileFile {
  /** Where it is, for messages. */
  path: string
  /** From the environment, else the file, else a system that runs in this folder. */
  read(): Profile
  /** Keeps this of it, and nothing else that the environment gave. */
  save(more: Partial<Profile>): void
}

export interface ProfilePlace {
  env: Record<string, string | undefined>
  home: string
  cwd: string
}

/** Its message is for the person at the terminal. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Nothing was compared, so the exit code must not be that of a difference. */
export class MisuseError extends UsageError {
  override name = 'MisuseError'
}

const PROFILES = 'profiles.json'

/** Each Ponte has a profile of its own, by URL and key, so that no position or secret of one is taken for another's. */
export function openProfile({ env, home, cwd }: ProfilePlace): ProfileFile {
  const path = join(env.PONTE_CONFIG_DIR ?? join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'ponte'), PROFILES)
  const load = (): { current: string | null; profiles: Record<string, Partial<Profile>> } =>
    existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { current: null, profiles: {} }
  const nameOf = ({ base_url, api_key }: Pick<Profile, 'base_url' | 'api_key'>) => `${base_url} ${api_key.slice(-8)}`
  const read = (): Profile => {
    const { current, profiles } = load()
    const given = fromEnvironment(env) ?? (current === null ? fromFolder(cwd) : undefined)
    const known = given ? { ...profiles[nameOf(given)], ...given } : profiles[current ?? '']
    if (!known?.base_url || !known.api_key)
      throw new UsageError('Not logged in. Run: ponte login --url https://pay.example.com, or set PONTE_API_KEY and PONTE_URL.')
    return { ...known, base_url: known.base_url, api_key: known.api_key }
  }
  return {
    path,
    read,
    save(more) {
      const stored = load()
      const { base_url, api_key } = more
      const login = base_url && api_key ? nameOf({ base_url, api_key }) : null
      const name = login ?? nameOf(read())
      // Earlier versions kept the key of the environment, too.
      const given = name === stored.current ? {} : { base_url: undefined, api_key: undefined }
      const next = { ...stored.profiles[name], ...given, ...more }
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // Renamed into place, so that a kill in the middle leaves the old file whole.
      const text = JSON.stringify({ current: login ?? stored.current, profiles: { ...stored.profiles, [name]: next } }, null, 2)
      writeFileSync(`${path}.${process.pid}`, `${text}\n`, { mode: 0o600 })
      renameSync(`${path}.${process.pid}`, path)
    },
  }
}

function fromEnvironment({ PONTE_API_KEY, PONTE_URL }: ProfilePlace['env']): Profile | undefined {
  if (!PONTE_API_KEY) return undefined
  if (!PONTE_URL) throw new UsageError('PONTE_API_KEY is set; set PONTE_URL too, such as https://pay.example.com.')
  return { base_url: PONTE_URL.replace(/\/+$/, ''), api_key: PONTE_API_KEY }
}

/** The system that `npm start` runs, in this folder or one above. */
function fromFolder(folder: string): Profile | undefined {
  const file = join(folder, '.ponte/embedded.json')
  if (existsSync(file)) {
    const { gateway_url, demo_merchant, demo_user, auth_url, public_client_key } = JSON.parse(readFileSync(file, 'utf8'))
    return { base_url: gateway_url, api_key: demo_merchant.api_key, user: { auth_url, client_key: public_client_key, ...demo_user } }
  }
  return dirname(folder) === folder ? undefined : fromFolder(dirname(folder))
}
