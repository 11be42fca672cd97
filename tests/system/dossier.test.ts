import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EntryListBody, type ExportBody, type MerchantBody, type OrderBody, type SignedDossier, signedDossier } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { call, MERCHANT, merchant, PAYER, pay, runSystem, system, units, world } from '../world'
import { pdfText } from '../world/pdf-text'

const program = join(__dirname, '../../packages/cli/dist/main.js')
const folder = mkdtempSync(join(tmpdir(), 'ponte-dossier-'))
const DIRECT = 1_000_000n

const made: Record<'routed' | 'deposited', OrderBody> = {} as never

const ask = <T>(method: string, path: string, body?: object) => call<T>(system.gatewayUrl, method, path, merchant.api_key, body)
const entries = async () => (await ask<EntryListBody>('GET', '/api/v1/entries?limit=100')).data

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})
runSystem()
beforeAll(async () => {
  for (const kind of ['routed', 'deposited'] as const)
    made[kind] = await ask<OrderBody>('POST', '/api/v1/orders', {
      ...{ brl_amount: '150.00', external_ref: `INV-${kind}`, customer: { name: 'Ana Souza', tax_id: '12345678909' } },
    })
  const payer = world.chain.wallet(PAYER.privateKey)
  await pay(world.chain, made.routed)
  await mined(world.chain.mintUsdc(PAYER.address, 3n * units(made.deposited.usdc_amount)))
  const half = units(made.deposited.usdc_amount) / 2n
  for (const part of [half, units(made.deposited.usdc_amount) - half])
    await mined(world.chain.transferUsdc(payer, made.deposited.payment.deposit_address ?? '', part))
  await mined(world.chain.transferUsdc(payer, MERCHANT.address, DIRECT))
  const booked = async (wanted: string) => (await entries()).filter(({ kind }) => kind === wanted)
  const swept = async () => (await booked('settled')).filter(({ order_id }) => order_id === made.deposited.id).length > 0
  await until(
    async () => (await swept()) && (await booked('settled')).length >= 2 && (await booked('direct')).length === 1,
    'nothing is swept',
    60_000,
  )
  await system.idle()
}, 180_000)

/** The file of a dossier, once it is made. */
async function dossierOf(body: object, form: 'json' | 'pdf' = 'json'): Promise<Buffer> {
  const { id } = await ask<ExportBody>('POST', '/api/v1/exports', { format: `dossier_${form}`, ...body })
  let state: ExportBody | undefined
  await until(async () => {
    state = await ask<ExportBody>('GET', `/api/v1/exports/${id}`)
    return state.status !== 'waiting' && state.status !== 'running'
  }, 'the dossier is not made')
  expect(state).toMatchObject({ status: 'ready', failure: null })
  const answer = await fetch(`${system.gatewayUrl}/api/v1/exports/${id}/file`, { headers: { authorization: `Bearer ${merchant.api_key}` } })
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="dossier-${id}.${form}"`)
  return Buffer.from(await answer.arrayBuffer())
}

async function verify(bytes: Uint8Array, ...args: string[]) {
  const file = join(folder, 'dossier.json')
  writeFileSync(file, bytes)
  const child = spawn(process.execPath, [program, 'verify-dossier', file, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => (output.stdout += chunk))
  child.stderr.on('data', chunk => (output.stderr += chunk))
  const [code] = await once(child, 'close')
  return { code: code as number | null, ...output }
}

test('what reached the payout address by router, sweep and plain transfer is proven, offline and by the node', async () => {
  const sum = (await entries())
    .filter(({ kind }) => kind === 'settled' || kind === 'direct')
    .reduce((total, { amount }) => total + units(amount), 0n)
  const wanted = `${sum / 1_000_000n}.${String(sum % 1_000_000n).padStart(6, '0')}`
  const bytes = await dossierOf({ amount: wanted })
  const { dossier }: SignedDossier = signedDossier.parse(JSON.parse(bytes.toString()))
  expect(new Set(dossier.origins.map(({ kind }) => kind))).toEqual(new Set(['router', 'sweep', 'direct']))
  expect(dossier).toMatchObject({ total_usdc: wanted, merchant: { id: merchant.id }, chain_id: 31_337 })
  const swept = dossier.origins.filter(({ order }) => order?.id === made.deposited.id)
  expect(swept.flatMap(({ payments }) => payments).map(({ payer_address }) => payer_address?.toLowerCase())).toEqual([
    ...[PAYER.address.toLowerCase(), PAYER.address.toLowerCase()],
  ])
  expect(swept[0]?.order).toMatchObject({ external_ref: 'INV-deposited', customer: { name: 'Ana Souza', tax_id: '12345678909' } })
  expect(dossier.transactions.every(({ proof }) => proof !== null)).toBe(true)

  const keys = join(folder, 'keys.json')
  writeFileSync(keys, JSON.stringify(await (await fetch(`${system.gatewayUrl}/api/v1/dossier-keys`)).json()))
  const offline = await verify(bytes, '--keys', keys)
  expect([offline.stderr, offline.code]).toEqual(['', 0])
  expect(offline.stdout).toContain('The dossier is genuine.')
  const online = await verify(bytes, '--installation', system.gatewayUrl, '--rpc', world.chain.rpcUrl)
  expect([online.stderr, online.code]).toEqual(['', 0])
  if (process.env.RECORD_DOSSIER) {
    writeFileSync(join(process.env.RECORD_DOSSIER, 'dossier.signed'), bytes)
    writeFileSync(join(process.env.RECORD_DOSSIER, 'keys.json'), await (await fetch(`${system.gatewayUrl}/api/v1/dossier-keys`)).text())
  }

  const changed = Buffer.from(bytes)
  const at = changed.indexOf('INV-routed')
  changed[at] = 'X'.charCodeAt(0)
  expect(await verify(changed, '--keys', keys)).toMatchObject({ code: 1, stdout: expect.stringContaining('FAILED') })
  expect((await verify(bytes)).code).toBe(2)
})

test('a part of the money is the newest of it, and more than there is is refused with what there is', async () => {
  const [newest] = (await entries()).filter(({ kind }) => kind === 'settled' || kind === 'direct').toReversed()
  const { dossier }: SignedDossier = JSON.parse((await dossierOf({ amount: '0.10' })).toString())
  expect(dossier.origins).toMatchObject([{ sequence: newest?.sequence, amount: newest?.amount, counted: '0.100000' }])
  await expect(ask('POST', '/api/v1/exports', { format: 'dossier_json', amount: '1000000' })).rejects.toThrow(/USDC have reached/)
})

test('a PDF shows what the JSON has, is verified by the JSON in it, and with any byte changed is none', async () => {
  const { payout_proof } = await call<MerchantBody>(system.gatewayUrl, 'GET', '/api/v1/merchants/me', merchant.token)
  const signature = await world.chain.wallet(MERCHANT.privateKey).signMessage(payout_proof?.message ?? '')
  await call(system.gatewayUrl, 'POST', '/api/v1/merchants/me/payout-address/sign', merchant.token, { signature })
  await system.idle()
  const { dossier }: SignedDossier = JSON.parse((await dossierOf({ amount: '0.10' })).toString())
  const bytes = await dossierOf(
    { entries: (await entries()).filter(({ kind }) => kind === 'settled' || kind === 'direct').map(({ sequence }) => sequence) },
    'pdf',
  )
  const file = join(folder, 'dossier.pdf')
  writeFileSync(file, bytes)
  const text = pdfText(file).join('\n')
  for (const { tx_hash, block_hash } of dossier.transactions) {
    expect(text).toContain(tx_hash)
    expect(text).toContain(block_hash)
  }
  for (const shown of [PAYER.address, MERCHANT.address, 'INV-routed', 'INV-deposited', 'Ana Souza', 'Dossiê de origem'])
    expect(text).toContain(shown)
  const online = await verify(bytes, '--installation', system.gatewayUrl, '--rpc', world.chain.rpcUrl)
  expect([online.stderr, online.code]).toEqual(['', 0])
  expect(online.stdout).not.toContain('set without a signature')
  expect(text).toContain(payout_proof?.message.split('\n').at(-1))
  // In what is shown, in the JSON, in the end of the file and in the signature.
  for (const at of [300, bytes.indexOf('%ponte-dossier:') + 500, bytes.indexOf('startxref'), bytes.length - 40]) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(await verify(changed, '--installation', system.gatewayUrl)).toMatchObject({ code: 1, stdout: expect.stringContaining('FAILED') })
  }
})
