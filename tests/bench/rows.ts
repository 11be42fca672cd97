import { serviceNames, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { Interface, parseUnits } from 'ethers'
import pg from 'pg'
import { call, createMerchant, PAYER, startWorld, units, type World } from '../world'
import { type Row, report } from './table'

// Counts the bytes of an order in each database once it was paid by a transfer, swept and notified: docs/capacity.md reckons with them.

const ORDERS = Number(process.env.BENCH_ORDERS ?? 2_000)
const AT_ONCE = 20
const UNBOUNDED = { GAS_BUDGET_DAY_USDC: '100000', GAS_BUDGET_MERCHANT_DAY_USDC: '100000' }
/** Forgotten by a day's clean-up; the days are those of service-kit/src/bus/outbox-relay.ts, http/idempotency.ts and EVENT_RETENTION_DAYS. */
const KEPT_DAYS: Readonly<Record<string, number>> = {
  ...{ outbox: 7, inbox: 30, idempotency_keys: 7 },
  ...{ events: 30, event_sequences: 30, deliveries: 30, attempts: 30 },
}

interface TableSize {
  name: string
  heap: number
  indexes: number
}

async function main(): Promise<void> {
  const world = await startWorld({ amqp: testBroker() })
  const processes = await startProcesses(world.place, { 'chain-listener': UNBOUNDED })
  const clients = await Promise.all(
    serviceNames.map(async service => {
      const client = new pg.Client({ connectionString: world.place.databaseUrl(service) })
      await client.connect()
      return { service, client }
    }),
  )
  const orders = clients.find(({ service }) => service === 'orders')?.client
  const count = async (sql: string): Promise<number> => Number((await orders?.query<{ n: string }>(sql))?.rows[0]?.n)
  try {
    const merchant = await createMerchant(world, world.place.publicUrl, world.receiverUrl)
    await mined(world.chain.mintUsdc(PAYER.address, 10n ** 15n))
    const before = await Promise.all(clients.map(({ client }) => sizes(client)))
    const walBefore = await count("SELECT pg_current_wal_lsn() - '0/0' AS n")
    for (let opened = 0; opened < ORDERS; opened += AT_ONCE) {
      const create = (index: number) =>
        call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, {
          brl_amount: '150.00',
          external_ref: `INV-${opened + index}`,
          description: 'Camiseta de algodão, tamanho M',
        })
      await transferAll(world, await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(index))))
    }
    await until(
      async () => (await count('SELECT count(*) AS n FROM orders WHERE settled_at IS NOT NULL')) >= ORDERS,
      async () => `${await count('SELECT count(*) AS n FROM orders WHERE settled_at IS NOT NULL')} of ${ORDERS} are settled`,
      600_000,
    )
    const wal = (await count("SELECT pg_current_wal_lsn() - '0/0' AS n")) - walBefore
    const rows = await Promise.all(
      clients.map(async ({ service, client }, index): Promise<Row[]> => {
        const tables = await sizes(client)
        const grown = tables.map(table => ({
          ...table,
          ...less(
            table,
            before[index]?.find(({ name }) => name === table.name),
          ),
        }))
        return grown.filter(({ heap }) => heap >= ORDERS * 10).map(table => sizeRow(service, table))
      }),
    )
    report('bytes in the tables and indexes of each database, for one order that was paid, swept and notified', rows.flat(), [
      `${ORDERS} orders; ${Math.round(wal / ORDERS)} bytes of write-ahead log for each. Vacuumed in full. What is kept 0 days is kept for ever.`,
    ])
  } finally {
    await Promise.all(clients.map(({ client }) => client.end()))
    await processes.stop()
    await world.stop()
  }
}

/** Without what dead rows and half-empty pages take. */
async function sizes(client: pg.Client): Promise<TableSize[]> {
  await client.query('VACUUM FULL')
  const { rows } = await client.query<{ name: string; heap: string; indexes: string }>(
    'SELECT relname AS name, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes FROM pg_stat_user_tables ORDER BY relname',
  )
  return rows.map(({ name, heap, indexes }) => ({ name, heap: Number(heap), indexes: Number(indexes) }))
}

const less = (table: TableSize, before: TableSize | undefined) => ({
  heap: table.heap - (before?.heap ?? 0),
  indexes: table.indexes - (before?.indexes ?? 0),
})

const sizeRow = (service: string, { name, heap, indexes }: TableSize): Row => ({
  name: `${service}: ${name}`,
  figures: { bytes: [(heap + indexes) / ORDERS], 'of them indexes': [indexes / ORDERS], 'kept, days': [KEPT_DAYS[name] ?? 0] },
})

async function transferAll({ chain }: World, orders: readonly OrderBody[]): Promise<void> {
  const payer = chain.wallet(PAYER.privateKey)
  const token = new Interface(['function transfer(address to, uint256 value)'])
  const nonce = await payer.getNonce('pending')
  const fees = { maxFeePerGas: parseUnits('100', 'gwei'), maxPriorityFeePerGas: parseUnits('1', 'gwei') }
  const params = await Promise.all(
    orders.map(({ payment, usdc_amount }, index) =>
      payer.signTransaction({
        ...{ type: 2, chainId: chain.chainId, nonce: nonce + index, to: chain.usdcAddress, gasLimit: 100_000, ...fees },
        data: token.encodeFunctionData('transfer', [payment.deposit_address, units(usdc_amount)]),
      }),
    ),
  )
  const calls = params.map((transaction, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [transaction] }))
  const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(calls) })
  const refused = ((await answer.json()) as { error?: object }[]).find(({ error }) => error)
  if (refused) throw new Error(`A transfer was refused: ${JSON.stringify(refused)}`)
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
