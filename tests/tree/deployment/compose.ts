import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testAccounts } from '@ponte/local-servers'
import { parse, type ScalarTag, type Tags } from 'yaml'
import { type Container, type Variables, variablesOf } from './container'

// Files of Compose laid over each other as Compose does it: maps are merged, a list of ports is emptied by `!reset`, commands are replaced.

const root = join(__dirname, '../../..')
export const read = (path: string) => readFileSync(join(root, path), 'utf8')
const RESET = '!reset'
const reset: ScalarTag = { tag: RESET, resolve: () => RESET }
const resetList = { tag: RESET, collection: 'seq' as const, resolve: () => RESET }
const yaml = {
  merge: true,
  customTags: (tags: Tags) => [...tags.filter(tag => typeof tag === 'string' || tag.format !== 'HEX'), reset, resetList as never],
}

export interface ComposeService {
  image?: string
  command?: string[]
  profiles?: string[]
  ports?: string[]
  restart?: string
  environment?: Variables
  logging?: { driver: string; options: Variables }
  deploy?: { resources: { limits: { cpus: string; memory: string } } }
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(base: unknown, over: unknown): unknown {
  if (over === RESET) return undefined
  if (!isMap(base) || !isMap(over)) return over
  return { ...base, ...Object.fromEntries(Object.entries(over).map(([key, value]) => [key, merged(base[key], value)])) }
}

export const PRODUCTION_FILES = ['docker-compose.yml', 'infra/compose/production.yml'] as const

/** Each file laid over the one before. */
export function readCompose(files: readonly string[] = ['docker-compose.yml']) {
  const { services } = files.map(file => parse(read(file), yaml)).reduce(merged) as { services: Record<string, ComposeService> }
  const environmentOf = (name: string, env: Variables): Variables =>
    Object.fromEntries(Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, interpolate(String(value), env)]))
  const container = (name: string, env: Variables): Container => ({
    args: services[name]?.command ?? [],
    environment: environmentOf(name, env),
  })
  return { services, environmentOf, container }
}

/** `${NAME}`, `${NAME:-default}`, `${NAME:+instead}`, `${NAME:?complaint}`. */
export function interpolate(text: string, env: Variables): string {
  return text.replace(/\$\{(\w+)(?::([-+?])([^}]*))?\}/g, (_, name: string, operator?: string, rest = '') => {
    const value = env[name]
    if (operator === '+') return value ? rest : ''
    if (value) return value
    if (operator === '?') throw new Error(`${name} is not in .env`)
    return operator === '-' ? rest : ''
  })
}

/** A clean `.env`, as the script writes it. */
export function makeEnv(folder: string) {
  const file = join(folder, '.env')
  const result = spawnSync(process.execPath, [join(root, 'infra/make-env.mjs'), file], { encoding: 'utf8' })
  return { file, result, variables: () => variablesOf(readFileSync(file, 'utf8')) }
}

/** An operator's .env: that of the script, with what infra/compose/README.md has changed. Addresses are those of `place`. */
export const productionEnv = (fresh: Variables, place: Variables): Variables => ({
  ...fresh,
  PUBLIC_URL: 'https://pay.example.com',
  NODE_ENV: 'production',
  WEBHOOK_ALLOW_CIDRS: '',
  NETWORK: 'base',
  CHAIN_ID: '8453',
  DEVELOPMENT_CHAIN: 'false',
  PONTE_MODE: 'live',
  FEES_BPS: '100',
  WS_URL: '',
  RATE_STATIC: '',
  COIN_USDC: '3000',
  CONFIRMATIONS: '12',
  SMTP_URL: 'smtps://ponte:password@mail.example:465',
  MAIL_FROM: 'ponte@shop.example',
  // The fresh file's keys are refused.
  RELAYER_PRIVATE_KEY: testAccounts[5].privateKey,
  GASLESS_PRIVATE_KEY: testAccounts[6].privateKey,
  ...place,
})
