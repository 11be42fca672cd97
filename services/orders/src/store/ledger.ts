import { createBatch, type Database } from '@ponte/service-kit'
import type { Order } from '../order'
import type { Payment } from '../settlement'
import { fromFields, type OrderFields, orderFields, type PaymentFields, toPayment } from './order-row'

export interface Ledger {
  order: Order
  payments: Payment[]
}

// Order and payments in one statement: between two of them a payment could come in. JSON holds a number as a double, units are more.
const READ = `
  SELECT ${orderFields}, coalesce((
    SELECT json_agg(json_build_object('id', p.id, 'revision', p.revision, 'status', p.status, 'share_units', p.share_units::text,
      'payer_address', p.payer_address, 'tx_hash', p.tx_hash, 'block_number', p.block_number::text, 'block_time', p.block_time,
      'replaces', p.replaces) ORDER BY p.block_number, p.id)
    FROM payments p WHERE p.order_id = orders.id), '[]') AS payments
  FROM orders`

const BATCH = 200
const PATIENCE_MS = 8_000

export function ledgerStore(database: Database) {
  const read = async (name: string, which: string, values: readonly unknown[]): Promise<Ledger[]> => {
    const { rows } = await database.query<OrderFields & { payments: PaymentFields[] }>({ name, text: `${READ} ${which}` }, values)
    return rows.map(({ payments, ...order }) => ({ order: fromFields(order), payments: payments.map(toPayment) }))
  }
  const ledgersOf = (ids: readonly string[]) => read('ledgers-of', 'WHERE id = ANY($1::uuid[])', [ids])
  const byMemo = createBatch(
    BATCH,
    async (memos: readonly string[]): Promise<(Ledger | null)[]> => {
      const found = new Map((await read('ledgers-by-memo', 'WHERE memo = ANY($1)', [memos])).map(ledger => [ledger.order.memo, ledger]))
      return memos.map(memo => found.get(memo) ?? null)
    },
    PATIENCE_MS,
  )
  return {
    /** One order with its payments. Payments come in crowds, one block at a time: orders asked for by memo at one moment are read together. */
    find: async (where: { id: string } | { memo: string }): Promise<Ledger | null> =>
      'memo' in where ? byMemo(where.memo) : ((await ledgersOf([where.id]))[0] ?? null),

    ledgersOf,

    /** Orders by id, which is by age: after the given one, or the newest. */
    ledgers: (after: string | null | 'newest', limit: number): Promise<Ledger[]> =>
      after === 'newest'
        ? read('ledgers-newest', 'ORDER BY id DESC LIMIT $1', [limit])
        : read('ledgers-after', 'WHERE id > $2::uuid ORDER BY id LIMIT $1', [limit, after ?? NOBODY]),
  }
}

/** Before every id. */
const NOBODY = '00000000-0000-0000-0000-000000000000'
