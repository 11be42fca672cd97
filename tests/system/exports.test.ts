import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type System, startAll } from '@ponte/all-in-one'
import type { AttentionItemBody, EntryBody, List, MerchantBody, OrderBody, RefundBody, SummaryBody } from '@ponte/contracts'
import { mined, requireProgram } from '@ponte/local-servers'
import { type CreateExport, type Export, Ponte } from '@ponte/sdk'
import { until } from '@ponte/service-kit'
import { Ofx } from 'ofx-data-extractor'
import Papa from 'papaparse'
import readWorkbook from 'read-excel-file/node'
import { call, createMerchant, GASLESS, MERCHANT, PAYER, pay, startWorld, units, type World } from '../world'

// Each file is opened by a program that is not ours, and comes to what the summary names.

const FORMULA = '=HYPERLINK("http://evil.example";"ok")'

let world: World
let system: System
let merchant: Awaited<ReturnType<typeof createMerchant>>
let ponte: Ponte
let entries: readonly EntryBody[]
let summary: SummaryBody

const post = <T = OrderBody>(path: string, body: object) => call<T>(system.gatewayUrl, 'POST', path, merchant.api_key, body)
const newOrder = (body: object = {}) => post('/api/v1/orders', { brl_amount: '150.00', ...body })

beforeAll(async () => {
  world = await startWorld()
  // A payout address changes at once.
  const atOnce = { FRESH_LOGIN_S: '0', PAYOUT_DELAY_S: '0', PAYOUT_UNSIGNED_DELAY_S: '0', PAYOUT_HOLD_S: '0' }
  system = await startAll(world.place, { logger: world.logger, settings: { 'api-gateway': atOnce } })
  merchant = await createMerchant(world, system.gatewayUrl)
  ponte = new Ponte(merchant.api_key, { baseUrl: system.gatewayUrl, allowHttp: true })
  const [first, second, third] = [await newOrder(), await newOrder(), await newOrder()]
  await pay(world.chain, first)
  await pay(world.chain, second)
  await pay(world.chain, { ...third, memo: 'cd'.repeat(32) })
  // Counted by hand, what was booked for no order is taken back.
  const stray = async () => (await call<List<AttentionItemBody>>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)).data[0]
  await until(async () => (await stray()) !== undefined && (await booked()) >= 9, 'the payments were not booked', 30_000)
  await post(`/api/v1/attention/${(await stray())?.id}/attach`, { order_id: third.id, reason: 'The memo was typed wrong' })
  const refund = await post<RefundBody>(`/api/v1/orders/${first.id}/refunds`, {
    amount: '5',
    payee_address: PAYER.address,
    reason: FORMULA,
  })
  const { domain, types, message } = refund.typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
  await mined(world.chain.mintUsdc(world.chain.wallet(MERCHANT.privateKey).address, 100_000_000n))
  const signature = await world.chain.wallet(MERCHANT.privateKey).signTypedData(domain, types, message)
  await post(`/api/v1/refunds/${refund.id}/signature`, { valid_before: Number(message.validBefore), signature })
  await until(async () => (await ponte.refunds.get(refund.id)).status === 'confirmed', 'the refund was not confirmed', 60_000)
  await system.idle()
  entries = (await ponte.entries.list({ limit: 100 })).data
  const today = new Date().toISOString().slice(0, 10)
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  summary = await ponte.entries.summary({ from, to: today, timezone: 'UTC', by: 'day' })
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
})

const booked = async () => (await ponte.entries.list({ limit: 100 })).data.length

async function made(body: CreateExport): Promise<{ one: Export; bytes: Uint8Array }> {
  const { id } = await ponte.exports.create(body)
  await until(async () => (await ponte.exports.get(id)).status === 'ready', 'the file was not made', 30_000)
  return { one: await ponte.exports.get(id), bytes: await ponte.exports.file(id) }
}
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const sum = (rows: readonly { kind: string; amount: bigint }[], ...kinds: string[]) =>
  rows.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0n)

/** Figures of the summary, from rows of whatever file. */
function figures(rows: readonly { kind: string; amount: bigint }[]): Record<string, bigint> {
  return {
    gross: sum(rows, 'payment', 'unmatched', 'direct'),
    platform_fee: sum(rows, 'fee'),
    settled: sum(rows, 'settled', 'direct'),
    returned: sum(rows, 'returned'),
  }
}
const expected = () => {
  const { gross, platform_fee, settled, returned } = summary.total
  return { gross: units(gross), platform_fee: units(platform_fee), settled: units(settled), returned: units(returned) }
}
const KINDS: Record<string, string> = {
  ...{ Pagamento: 'payment', 'Entrada sem cobrança': 'unmatched', 'Taxa da plataforma': 'fee' },
  ...{ 'Repasse ao endereço': 'settled', Devolução: 'returned', 'Transferência direta': 'direct' },
}

test('there is something of each kind, and something that was taken back', () => {
  expect([...new Set(entries.map(({ kind }) => kind))].sort()).toEqual(['direct', 'fee', 'payment', 'returned', 'settled', 'unmatched'])
  expect(entries.some(({ reverses }) => reverses !== null)).toBe(true)
})

test('JSON lines are the list', async () => {
  const { one, bytes } = await made({ format: 'jsonl' })
  expect(one).toMatchObject({ rows: entries.length, size: bytes.length })
  expect(
    text(bytes)
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toEqual(entries)
})

test('CSV in both forms is read by Papa Parse, and evaluates nothing', async () => {
  const read = async (form: 'international' | 'brazilian', comma: string) => {
    const { bytes } = await made({ format: 'csv', form })
    const { data, errors, meta } = Papa.parse<Record<string, string>>(text(bytes).replace('\ufeff', ''), {
      header: true,
      skipEmptyLines: true,
    })
    expect([errors, meta.delimiter]).toEqual([[], comma])
    return data
  }
  const international = await read('international', ',')
  expect(figures(international.map(({ kind = '', amount = '' }) => ({ kind, amount: units(amount) })))).toEqual(expected())
  const brazilian = await read('brazilian', ';')
  const rows = brazilian.map(row => ({ kind: KINDS[row.Movimento ?? ''] ?? '', amount: units((row.USDC ?? '').replace(',', '.')) }))
  expect(figures(rows)).toEqual(expected())
  const reasons = [...international.map(({ reason }) => reason), ...brazilian.map(({ Motivo }) => Motivo)]
  expect(reasons.filter(reason => reason?.includes('HYPERLINK'))).toHaveLength(2)
  expect(reasons.filter(reason => /^[=+\-@]/.test(reason ?? ''))).toEqual([])
})

test('XLSX in both forms is read by read-excel-file: amounts are numbers, times are dates, and no cell is a formula', async () => {
  const read = async (form: 'international' | 'brazilian') => {
    const { bytes } = await made({ format: 'xlsx', form })
    const [sheet] = await readWorkbook(Buffer.from(bytes))
    const [heads = [], ...rows] = sheet?.data ?? []
    return rows.map(row => Object.fromEntries(heads.map((head, index) => [String(head), row[index]])))
  }
  const exact = (value: unknown) => units(Number(value).toFixed(6))
  const international = await read('international')
  expect(international).toHaveLength(entries.length)
  expect(figures(international.map(row => ({ kind: String(row.kind), amount: exact(row.amount) })))).toEqual(expected())
  expect(international.map(({ tx_hash, order_id, sequence }) => [tx_hash, order_id, sequence])).toEqual(
    entries.map(({ tx_hash, order_id, sequence }) => [tx_hash, order_id, sequence]),
  )
  const seconds = (at: unknown) => Math.round(Number(at) / 1000)
  expect(international.map(({ at }) => seconds(at))).toEqual(entries.map(({ at }) => seconds(Date.parse(at))))
  const brazilian = await read('brazilian')
  expect(figures(brazilian.map(row => ({ kind: KINDS[String(row.Movimento)] ?? '', amount: exact(row.USDC) })))).toEqual(expected())
  // The clock in São Paulo is three hours behind.
  expect(brazilian.map(row => seconds(row['Data (São Paulo)']))).toEqual(
    entries.map(({ at }) => Math.floor(Date.parse(at) / 1000) - 10_800),
  )
  expect(brazilian.map(({ Motivo }) => Motivo).filter(reason => String(reason).includes('HYPERLINK'))).toEqual([
    `'${FORMULA.replace(';', ';')}`,
  ])
})

test('OFX is read by ofx-data-extractor: taken in twice, and once more with what came later, it brings nothing twice', async () => {
  const imported = new Map<string, bigint>()
  const take = (bytes: Uint8Array) => {
    const ofx = new Ofx(text(bytes))
    expect(ofx.validate()).toMatchObject({ isValid: true, warnings: [], errors: [] })
    const { BANKMSGSRSV1 } = ofx.toJson().OFX
    const statement = [BANKMSGSRSV1.STMTTRNRS].flat()[0]
    const { STMTRS } = statement as never as { STMTRS: Statement }
    const movements = [STMTRS.BANKTRANLIST.STRTTRN ?? []].flat()
    for (const { FITID, TRNAMT } of movements) imported.set(String(FITID), units(Number(TRNAMT).toFixed(6)))
    return { STMTRS, movements }
  }
  interface Statement {
    CURDEF: string
    BANKACCTFROM: { BANKID: string; BRANCHID: string; ACCTID: string }
    /** As the parser calls them. */
    BANKTRANLIST: { STRTTRN: { FITID: string; TRNAMT: string; TRNTYPE: string; DTPOSTED: string }[] }
    LEDGERBAL: { BALAMT: string }
  }
  const total = () => [...imported.values()].reduce((all, amount) => all + amount, 0n)
  const first = await made({ format: 'ofx' })
  const { STMTRS, movements } = take(first.bytes)
  const { settled, returned } = expected()
  expect([STMTRS.CURDEF, movements.length, first.one.rows, total()]).toEqual(['USD', imported.size, imported.size, settled - returned])
  expect(units(Number(STMTRS.LEDGERBAL.BALAMT).toFixed(6))).toBe(total())
  expect(`${STMTRS.BANKACCTFROM.ACCTID}${STMTRS.BANKACCTFROM.BRANCHID}`).toBe(
    entries.find(({ kind }) => kind === 'settled')?.address?.toLowerCase(),
  )
  expect(new Set(movements.map(({ TRNTYPE }) => TRNTYPE))).toEqual(new Set(['CREDIT', 'DEBIT']))
  take(first.bytes)
  expect([imported.size, total()]).toEqual([movements.length, settled - returned])
  const before = await booked()
  await pay(world.chain, await newOrder())
  await until(async () => (await booked()) === before + 3, 'the payment was not booked', 30_000)
  take((await made({ format: 'ofx' })).bytes)
  expect(imported.size).toBe(movements.length + 1)
})

test('OFX with a statement of each of two payout addresses is read whole by LibOFX, as GnuCash and KMyMoney read it', async () => {
  const ofxdump = await requireProgram('ofxdump', 'ofx', 'reading OFX files')
  const { payout_address } = await call<MerchantBody>(system.gatewayUrl, 'PATCH', '/api/v1/merchants/me', merchant.token, {
    payout_address: GASLESS.address,
  })
  expect(payout_address).toBe(GASLESS.address)
  const before = await booked()
  await pay(world.chain, await newOrder())
  await until(
    async () => (await booked()) >= before + 3,
    async () => `booked: ${JSON.stringify((await ponte.entries.list({ limit: 100 })).data.slice(before - 4))}`,
    30_000,
  )
  const folder = await mkdtemp(join(tmpdir(), 'ponte-ofx-'))
  try {
    const file = join(folder, 'ledger.ofx')
    const { one, bytes } = await made({ format: 'ofx' })
    await writeFile(file, bytes)
    const { stdout } = await promisify(execFile)(ofxdump, [file])
    const field = (part: string, name: string) => new RegExp(`^ *${name} ?: *(.*?) *$`, 'm').exec(part)?.[1] ?? ''
    const parts = (kind: string) => stdout.split(/^(?=ofx_proc_)/m).filter(part => part.startsWith(`ofx_proc_${kind}(`))
    const read = parts('transaction').map(part => {
      const [, branch, account] = field(part, 'Account ID').split(' ')
      return { address: `${account}${branch}`, cursor: field(part, "Financial institution's ID for this transaction") }
    })
    const { data } = await ponte.entries.list({ limit: 100 })
    const moved = data.filter(({ kind }) => ['settled', 'direct', 'returned'].includes(kind))
    expect(read.map(({ cursor }) => cursor).toSorted()).toEqual(moved.map(({ cursor }) => cursor).toSorted())
    expect(read.length).toBe(one.rows)
    const addresses = [MERCHANT.address.toLowerCase(), GASLESS.address.toLowerCase()]
    expect(new Set(read.map(({ address }) => address))).toEqual(new Set(addresses))
    expect(read.filter(({ address }) => address === addresses[1]).map(({ cursor }) => cursor)).toEqual([moved.at(-1)?.cursor])
    expect(parts('statement')).toHaveLength(2)
  } finally {
    await rm(folder, { recursive: true })
  }
})
