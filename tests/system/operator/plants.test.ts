import { randomBytes, randomUUID } from 'node:crypto'
import { type ServiceName, type System, startAll } from '@ponte/all-in-one'
import type { OrderBody, SubscriptionBody } from '@ponte/contracts'
import { audit } from '../../audit'
import { type Ledger, openLedger } from '../../torture/ledger'
import { call, createMerchant, logIn, PAYER, pay, startWorld, type World } from '../../world'

const ME = '/api/v1/merchants/me'
const STRANGER = PAYER.address
const OTHER_URL = 'https://collector.example/hook'
let world: World
let system: System
let ledger: Ledger
let merchantId: string
let colleagueId: string
let endpointId: string
let keyId: string
let plan: SubscriptionBody
const made: Record<'paid' | 'open', OrderBody> = {} as never

beforeAll(async () => {
  world = await startWorld()
  system = await startAll(world.place, {
    logger: world.logger,
    // Plants in the ledger stay as they are.
    settings: { orders: { RECONCILE_EVERY_S: '86400' } },
  })
  ledger = openLedger(world.place.databaseUrl)
  const merchant = await createMerchant(world, system.gatewayUrl)
  const email = 'colleague@ponte.example'
  await world.identity.ensureUser(email, 'a-password-for-tests')
  const colleague = { email, token: await logIn(world, { email }) }
  merchantId = merchant.id
  const post = <T>(path: string, token: string, body: object) => call<T>(system.gatewayUrl, 'POST', path, token, body)
  const invited = await post<{ token: string }>(`${ME}/invitations`, merchant.token, { email: colleague.email, role: 'viewer' })
  await post('/api/v1/invitations/accept', colleague.token, { token: invited.token })
  const [member] = await ledger.query<{ id: string }>('api-gateway', "SELECT id FROM members WHERE role = 'viewer'")
  colleagueId = member?.id ?? ''
  keyId = (await post<{ id: string }>(`${ME}/api-keys`, merchant.token, { name: 'ERP', scopes: ['orders:read'] })).id
  endpointId = (
    await post<{ id: string }>('/api/v1/webhook-endpoints', merchant.token, {
      url: `${world.place.identity.url}/none`,
      events: ['order.paid'],
    })
  ).id
  for (const kind of ['paid', 'open'] as const) made[kind] = await post('/api/v1/orders', merchant.api_key, { brl_amount: '150.00' })
  plan = await post('/api/v1/subscriptions', merchant.api_key, { brl_amount: '49.90' })
  await post(`/api/v1/subscriptions/${plan.id}/charge`, merchant.api_key, {})
  await pay(world.chain, made.paid)
  await system.idle()
})

afterAll(async () => {
  await ledger?.stop()
  await system?.stop()
  await world?.stop()
})

/** An hour later, so that what waits since a moment counts as late. */
const look = async () => (await audit(system.opsUrls, { from: 0, to: undefined, now: Date.now() + 3_600_000 })).differences

type Undo = () => Promise<unknown>
type Plant = () => Promise<Undo>

/** Other values in some rows. */
const altered = (service: ServiceName, table: string, where: string, values: Record<string, string>): Plant => {
  const columns = Object.keys(values)
  return async () => {
    const rows = await ledger.query<{ place: string; was: object }>(
      service,
      `UPDATE ${table} SET ${columns.map(column => `${column} = ${values[column]}`).join(', ')}
       FROM (SELECT ctid AS found, to_jsonb(${table}) AS was FROM ${table} WHERE ${where}) AS old
       WHERE ${table}.ctid = found RETURNING ${table}.ctid::text AS place, was`,
    )
    if (rows.length === 0) throw new Error(`${table} has no row where ${where}`)
    const old = columns.map(column => `${column} = (jsonb_populate_record(NULL::${table}, $2)).${column}`)
    return () =>
      Promise.all(rows.map(({ place, was }) => ledger.query(service, `UPDATE ${table} SET ${old} WHERE ctid = $1::tid`, [place, was])))
  }
}

const removed =
  (service: ServiceName, table: string, where: string): Plant =>
  async () => {
    await ledger.query(service, `CREATE TABLE planted_${table} AS SELECT * FROM ${table} WHERE ${where}`)
    await ledger.query(service, `DELETE FROM ${table} WHERE ${where}`)
    return async () => {
      await ledger.query(service, `INSERT INTO ${table} SELECT * FROM planted_${table}`)
      await ledger.query(service, `DROP TABLE planted_${table}`)
    }
  }

const added =
  (service: ServiceName, table: string, row: Record<string, unknown>): Plant =>
  async () => {
    const columns = Object.keys(row)
    await ledger.query(service, `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1)`, [row])
    const [key = ''] = columns
    return () => ledger.query(service, `DELETE FROM ${table} WHERE ${key} = (jsonb_populate_record(NULL::${table}, $1)).${key}`, [row])
  }

/** A hand with the right to write can do without the triggers by which a table refuses changes. */
const unguarded =
  (service: ServiceName, table: string, plant: Plant): Plant =>
  async () => {
    await ledger.query(service, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
    const undo = await plant()
    return async () => {
      await undo()
      await ledger.query(service, `ALTER TABLE ${table} ENABLE TRIGGER USER`)
    }
  }

/** Differences found while something is planted. */
async function found(plants: readonly Plant[]): Promise<string[]> {
  const undo: Undo[] = []
  for (const plant of plants) undo.unshift(await plant())
  const differences = await look()
  for (const one of undo) await one()
  return differences
}

/** Each is consistent within the one database that is written to. */
function plants(): Record<string, Plant[]> {
  const [open, paid] = [`id = '${made.open.id}'`, `id = '${made.paid.id}'`]
  const ofOpen = `order_id = '${made.open.id}'`
  const ofPaid = `order_id = '${made.paid.id}'`
  const mine = `id = '${merchantId}'`
  return {
    'orders: a cheaper unpaid order': [
      altered('orders', 'orders', open, {
        ...{ brl_centavos: 'brl_centavos / 2', usdc_units: '(brl_centavos / 2 * 10000000000 + rate_micros - 1) / rate_micros' },
        fee_units: '((brl_centavos / 2 * 10000000000 + rate_micros - 1) / rate_micros) * fee_bps / 10000',
        expected_units:
          '((brl_centavos / 2 * 10000000000 + rate_micros - 1) / rate_micros) - ((brl_centavos / 2 * 10000000000 + rate_micros - 1) / rate_micros) * fee_bps / 10000',
      }),
    ],
    'orders: an unpaid order without a fee': [
      altered('orders', 'orders', open, { fee_bps: '0', fee_units: '0', expected_units: 'usdc_units' }),
    ],
    'orders: a deleted order': [
      removed('orders', 'order_networks', ofOpen),
      removed('orders', 'outbox', `body LIKE '%${made.open.id}%'`),
      removed('orders', 'orders', open),
    ],
    'orders: a phantom signature': [
      added('orders', 'authorizations', {
        ...{ order_id: made.open.id, attempt: 1, revision: 9, status: 'submitted', payer_address: STRANGER.toLowerCase() },
        ...{ gross_units: 1_000_000, valid_before: 4_000_000_000 },
      }),
    ],
    'orders: a deleted payment': [
      removed('orders', 'payments', ofPaid),
      unguarded('orders', 'entries', removed('orders', 'entries', ofPaid)),
      removed('orders', 'outbox', `body LIKE '%${made.paid.id}%'`),
    ],
    'orders: a payment raised': [
      altered('orders', 'payments', ofPaid, { gross_units: 'gross_units + 1000000' }),
      altered('orders', 'orders', paid, {
        ...{ confirmed_units: 'confirmed_units + 1000000', seen_units: 'seen_units + 1000000' },
        completed_units: 'completed_units + 1000000',
      }),
    ],
    'orders: a refund that was never made': [
      added('orders', 'refunds', {
        ...{ id: randomUUID(), order_id: made.paid.id, merchant_id: merchantId, chain_id: made.paid.payment.chain_id, units: 1_000_000 },
        ...{ payee: STRANGER, from_address: made.paid.payment.merchant_address, nonce: `0x${randomBytes(32).toString('hex')}` },
        ...{ watch_from: 0, reason: 'It came back', created_at: new Date(), revision: 0 },
      }),
    ],
    'orders: an entry of the ledger': [
      unguarded('orders', 'entries', altered('orders', 'entries', `${ofPaid} AND kind = 'payment'`, { units: 'units + 5' })),
      ...['entry_sums', 'entry_day_sums'].map(table => altered('orders', table, "kind = 'payment'", { units: 'units + 5' })),
    ],
    'orders: a payout address': [
      altered('orders', 'merchants', mine, { payout_address: `'${STRANGER}'` }),
      altered('orders', 'payout_addresses', `merchant_id = '${merchantId}' AND payout_address IS NOT NULL`, {
        payout_address: `'${STRANGER}'`,
      }),
    ],
    'chain-listener: a payment raised': [
      altered('chain-listener', 'payments', `memo = '${made.paid.memo}'`, { amount: 'amount + 1000000' }),
    ],
    'api-gateway: a payout address': [altered('api-gateway', 'merchants', mine, { payout_address: `'${STRANGER}'` })],
    'api-gateway: a webhook URL': [altered('api-gateway', 'merchants', mine, { webhook_url: `'${OTHER_URL}'` })],
    "api-gateway: a key's scopes": [altered('api-gateway', 'named_keys', `id = '${keyId}'`, { scopes: "'{orders:read,refunds:write}'" })],
    "api-gateway: a key's hash": [
      altered('api-gateway', 'named_keys', `id = '${keyId}'`, { hash: `'\\x${randomBytes(32).toString('hex')}'` }),
    ],
    "api-gateway: the hash of a merchant's first key": [
      altered('api-gateway', 'api_keys', `merchant_id = '${merchantId}'`, { hash: `'\\x${randomBytes(32).toString('hex')}'` }),
    ],
    'api-gateway: an invented key': [
      added('api-gateway', 'named_keys', {
        ...{ id: randomUUID(), merchant_id: merchantId, hash: `\\x${randomBytes(32).toString('hex')}`, prefix: 'sk_test_ab', name: 'ERP' },
        ...{ scopes: ['refunds:write'], created_by: 'x', created_at: new Date() },
      }),
    ],
    "api-gateway: a member's role": [altered('api-gateway', 'members', `id = '${colleagueId}'`, { role: "'owner'" })],
    'api-gateway: an invented member': [
      added('api-gateway', 'members', { id: randomUUID(), merchant_id: merchantId, user_id: 'x', role: 'owner', created_at: new Date() }),
    ],
    'webhook-dispatcher: a webhook URL': [altered('webhook-dispatcher', 'merchants', mine, { webhook_url: `'${OTHER_URL}'` })],
    'webhook-dispatcher: the URL of an endpoint': [
      altered('webhook-dispatcher', 'endpoints', `id = '${endpointId}'`, { url: `'${OTHER_URL}'` }),
    ],
    'webhook-dispatcher: a delivery marked as delivered': [
      altered('webhook-dispatcher', 'deliveries', `endpoint_id = '${endpointId}'`, {
        ...{ status: "'delivered'", delivered_at: 'now()', last_http_status: '200', last_error_code: 'NULL', next_attempt_at: 'NULL' },
        ...{ dead_reason: 'NULL', attempts: '1', tries: 'tries + 1' },
      }),
    ],
    'webhook-dispatcher: a deleted event': [
      removed('webhook-dispatcher', 'deliveries', "event_type = 'order.paid'"),
      removed('webhook-dispatcher', 'events', "type = 'order.paid'"),
    ],
    "subscriptions: a plan's price": [altered('subscriptions', 'subscriptions', `id = '${plan.id}'`, { brl_centavos: '1' })],
    "subscriptions: a period's price": [altered('subscriptions', 'attempts', `subscription_id = '${plan.id}'`, { brl_centavos: '1' })],
    'subscriptions: a payout address': [altered('subscriptions', 'merchants', mine, { payout_address: `'${STRANGER}'` })],
  }
}

/** Facts that no other database holds. */
const UNNAMED = [
  "api-gateway: the hash of a merchant's first key",
  'webhook-dispatcher: the URL of an endpoint',
  "subscriptions: a plan's price",
]

it('names what a hand with write access to any one database plants there', async () => {
  expect(await look()).toEqual([])
  const unnamed: string[] = []
  const all = Object.entries(plants())
  for (const [name, each] of all) {
    const differences = await found(each)
    if (differences.length === 0) unnamed.push(name)
    process.stdout.write(`${name}: ${differences[0] ?? '–'}\n`)
    expect([name, await look()]).toEqual([name, []])
  }
  process.stdout.write(`reconcile: ${all.length - unnamed.length} of ${all.length} plants named\n`)
  expect(unnamed).toEqual(UNNAMED)
})
