import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { createMerchant, type World } from '../world'

/** The settings that every example reads. */
export interface ShopSettings {
  readonly PONTE_URL: string
  readonly PONTE_API_KEY: string
  readonly PONTE_WEBHOOK_SECRET: string
  readonly PORT: string
}

/** Starts a shop for a new merchant and buys there: one order for two clicks, a real payment, a verified webhook, and a forged one refused. */
export async function sellOnce(world: World, gatewayUrl: string, start: (settings: ShopSettings) => ChildProcess) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const owner = await createMerchant(world, gatewayUrl, `${url}/webhooks`)
  const shop = start({
    PONTE_URL: gatewayUrl,
    PONTE_API_KEY: owner.api_key,
    PONTE_WEBHOOK_SECRET: owner.webhook_secret,
    PORT: String(port),
  })
  try {
    await until(() => fetch(`${url}/invoices/INV-1`).then(Boolean, () => false), 'the shop does not listen', 60_000)
    const buy = async () => (await fetch(`${url}/buy/INV-1`, { method: 'POST', redirect: 'manual' })).headers.get('location') ?? ''
    const link = await buy()
    expect(await buy()).toBe(link)
    const order = link.split('/').at(-1)
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${gatewayUrl}/sample-payer/orders/${order}/pay`, { method: 'POST', headers, body: '{}' })
    const invoice = async () => (await fetch(`${url}/invoices/INV-1`)).json() as Promise<{ status: string }>
    await until(async () => (await invoice()).status === 'paid', 'the invoice is not paid', 60_000)
    expect(await invoice()).toMatchObject({ number: 'INV-1', tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    const forged = await fetch(`${url}/webhooks`, { method: 'POST', headers: { 'X-Service-Signature': '00' }, body: '{}' })
    expect(forged.status).toBe(401)
  } finally {
    shop.kill('SIGKILL')
  }
}

/** A program of a merchant, with the settings of the shop and none of ours. */
export const startProgram = ([program = '', ...args]: string[], settings: ShopSettings, cwd?: string): ChildProcess =>
  spawn(program, args, { cwd, env: { PATH: process.env.PATH, HOME: cwd, ...settings }, stdio: ['ignore', 'pipe', 'inherit'] })
