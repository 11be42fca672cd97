import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createWebhookReceiver } from '@ponte/all-in-one'
import { startTcpProxy } from '@ponte/local-servers'
import { dedupeKey, Ponte } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { createMerchant, runSystem, system, world } from '../world'

// `npm run listen-away`: `ponte listen` whose connection is cut twice and that is away for ten minutes of events (PONTE_AWAY_MINUTES).

const AWAY_MS = Number(process.env.PONTE_AWAY_MINUTES ?? 10) * 60_000
const EVERY_MS = 5_000
const program = join(__dirname, '../../packages/cli/dist/main.js')

let folder: string
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})
runSystem({ merchant: false })
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-away-'))
}, 300_000)

test(
  'every event, none twice after dedupe',
  async () => {
    const merchant = await createMerchant(world, system.gatewayUrl)
    const line = await startTcpProxy(() => [system.gatewayUrl])
    const ponte = new Ponte(merchant.api_key, { baseUrl: system.gatewayUrl })
    const shop = createWebhookReceiver({ host: '127.0.0.1', port: 0 })
    await shop.start?.()
    shop.trust('whsec_of_this_machine')
    const listen = () => {
      const args = ['--json', 'listen', '--forward-to', `127.0.0.1:${shop.port()}/webhooks`, '--secret', 'whsec_of_this_machine']
      const env = { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder, PONTE_API_KEY: merchant.api_key, PONTE_URL: line.url }
      const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
      const started = new Promise<void>(resolve => child.stderr.on('data', chunk => String(chunk).includes('Forwarding') && resolve()))
      return { child, started }
    }
    const made: string[] = []
    const make = async () => {
      const order = await ponte.orders.create({ brl_amount: '1.00' })
      await ponte.orders.cancel(order.id)
      made.push(order.id)
    }
    const arrived = () => new Set(shop.received.map(({ body }) => dedupeKey(JSON.parse(body)))).size

    const first = listen()
    await first.started
    for (let n = 0; n < 6; n++) {
      await make()
      if (n !== 1 && n !== 3) continue
      await until(line.isConnected, 'ponte listen did not connect again', 60_000)
      line.cut()
    }
    await until(() => arrived() === made.length, 'what came over the cut line did not arrive', 60_000)
    first.child.kill('SIGKILL')
    await once(first.child, 'close')
    const before = made.length
    for (const end = Date.now() + AWAY_MS; Date.now() < end; await pause(EVERY_MS)) await make()
    expect(arrived()).toBe(before)

    const second = listen()
    const restarted = Date.now()
    await until(
      () => arrived() === made.length,
      () => `${arrived()} of ${made.length} arrived`,
      120_000,
    )
    const seconds = (Date.now() - restarted) / 1000
    second.child.kill('SIGTERM')
    const keys = [...new Set(shop.received.map(({ body }) => dedupeKey(JSON.parse(body))))]
    expect(keys).toEqual(made.map(id => `order.cancelled:${id}:`))
    expect(shop.received.every(({ signature_valid }) => signature_valid)).toBe(true)
    console.info(
      `${made.length} events, ${made.length - before} of them in ${AWAY_MS / 60_000} minutes away; ${shop.received.length} requests; caught up in ${seconds.toFixed(1)} s`,
    )
    await line.stop()
    await shop.stop?.()
  },
  AWAY_MS + 600_000,
)
