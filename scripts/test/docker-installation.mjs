import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../develop/setup.mjs'
import { StepError } from '../develop/steps.mjs'

// An installation of its own of npm run docker-trial, in a clone, under a container engine.

/** An operator's answers to what the README has changed in .env, for a local chain. */
export const SETTINGS = {
  COMPOSE_PROFILES: 'dev',
  PUBLIC_URL: 'https://localhost',
  NODE_ENV: 'production',
  WEBHOOK_ALLOW_CIDRS: '',
  API_GATEWAY_REPLICAS: '2',
  ORDERS_REPLICAS: '2',
  ALERT_MAIL_TO: 'operator@example.com',
  ALERT_MAIL_FROM: 'ponte@example.com',
  ALERT_SMTP_HOST: 'mail.example.com:587',
  ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/',
  HEARTBEAT_URL: 'http://127.0.0.1:9/',
}
export const PROXY = 'https://localhost'
const READY_MS = 600_000
const EVERY_MS = 250

function requireEngine() {
  const asked = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' })
  const engine = spawnSync('docker', ['info', '--format', '{{ .ServerVersion }}'], { encoding: 'utf8' })
  if (asked.status !== 0 || engine.status !== 0)
    throw new StepError(
      `No container engine answers. Install Docker Engine with Compose 2.24.4 or newer (https://docs.docker.com/engine/install), or name one by DOCKER_HOST. ${engine.stderr ?? ''}`,
    )
  const running = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', 'label=com.docker.compose.project=ponte'], {
    encoding: 'utf8',
  })
  if (running !== '')
    throw new StepError('An installation of Ponte is on this engine already; the trial would replace it. Name another engine.')
  console.log(`Docker ${engine.stdout.trim()}, Compose ${asked.stdout.trim()}`)
}

/** Orders made one after another as a merchant's server does, without a key to repeat them by; what was not answered with 201 is kept. */
export function startTraffic(apiKey, onOrder = async () => undefined) {
  const failed = []
  let made = 0
  let isOn = true
  const order = () =>
    fetch(`${PROXY}/api/v1/orders`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: '{"brl_amount":"150.00"}',
      signal: AbortSignal.timeout(30_000),
    })
  const send = async () => {
    made++
    const at = new Date().toISOString()
    try {
      const response = await order()
      const text = await response.text()
      if (response.status === 201) await onOrder(JSON.parse(text))
      else failed.push(`${at} ${response.status} ${text}`)
    } catch (error) {
      failed.push(`${at} ${error.cause?.message ?? error.message}`)
    }
  }
  const sending = (async () => {
    while (isOn) {
      void send()
      await new Promise(resolve => setTimeout(resolve, EVERY_MS))
    }
  })()
  return {
    counts: () => ({ made, failed: failed.length }),
    failedSince: count => failed.slice(count),
    async stop() {
      isOn = false
      await sending
    },
  }
}

export async function withInstallation(work) {
  requireEngine()
  const folder = join(mkdtempSync(join(tmpdir(), 'ponte-docker-')), 'ponte')
  execFileSync('git', ['clone', '--quiet', root, folder])
  const env = { ...process.env }
  const run = async (program, args) => {
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    const [code] = await once(child, 'close')
    return { code, output }
  }
  const set = settings => {
    const path = join(folder, '.env')
    const kept = readFileSync(path, 'utf8')
      .split('\n')
      .filter(line => !Object.hasOwn(settings, line.split('=')[0]))
    writeFileSync(path, [...kept, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`), ''].join('\n'))
  }
  const compose = (...args) => run('docker', ['compose', ...args])
  // `up --build` builds no service of a profile whose image is there, from an earlier trial.
  await run('docker', ['image', 'rm', '--force', 'ponte/ops:local'])
  const becomes = async (what, look) => {
    const until = Date.now() + READY_MS
    for (;;) {
      const found = await look()
      if (found.done) return found.done
      if (Date.now() > until) throw new StepError(`${what}:\n${found.output}`)
      await new Promise(resolve => setTimeout(resolve, 3_000))
    }
  }
  /** Answers the last faults that it saw, '' when there was none. */
  const allIsWell = async () => {
    let faults = ''
    await becomes('status is not well', async () => {
      const { code, output } = await compose('run', '--rm', '--no-TTY', 'ops', 'status')
      if (code !== 0) faults = [...output.matchAll(/WRONG +(.*)/g)].map(([, line]) => line.replace(/ +/g, ' ')).join('; ')
      return { done: code === 0, output }
    })
    return faults
  }
  /** Of the merchant that the development aids print. */
  const findKey = () =>
    becomes('there is no merchant', async () => {
      const { output } = await compose('logs', '--no-log-prefix', 'development')
      return { done: /sk_(?:live|test)_[0-9a-f]{64}/.exec(output)?.[0], output }
    })
  try {
    return await work({ folder, env, run, set, compose, becomes, allIsWell, findKey })
  } finally {
    await compose('down', '--volumes', '--timeout', '5')
    rmSync(join(folder, '..'), { recursive: true, force: true })
  }
}
