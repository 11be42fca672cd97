import type { Database } from '@ponte/service-kit'
import { fenced, LED } from './payables'

/** A transfer to a deposit address. Addresses are lower-case; `feeUnits` is what its sweep will leave to the platform. */
export interface Transfer {
  txHash: string
  logIndex: number
  memo: string
  merchant: string
  router: string
  address: string
  payer: string
  amountUnits: bigint
  feeUnits: bigint
  blockNumber: number
  blockHash: string
  blockTime: Date
}

interface Row {
  tx_hash: string
  log_index: number
  memo: string
  merchant: string
  router: string
  address: string
  payer: string
  units: string
  fee: string
  block_number: string
  block_hash: string
  block_time: Date
}

const COLUMNS =
  'tx_hash, log_index, memo, merchant, router, address, payer, units::text, fee::text, block_number::text, block_hash, block_time'

const ADD = `
  WITH ${LED}
  INSERT INTO transfers (chain_id, tx_hash, log_index, memo, merchant, router, address, payer, units, fee, block_number, block_hash, block_time)
  SELECT $1, * FROM unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::numeric[], $11::numeric[],
    $12::bigint[], $13::text[], $14::timestamptz[])
  ON CONFLICT DO NOTHING`

const LOOKED = `
  WITH ${LED}
  INSERT INTO looks (chain_id, block_number) VALUES ($1, $3) ON CONFLICT (chain_id) DO UPDATE SET block_number = EXCLUDED.block_number`

/** The first remembered block that an order created then can be paid in; when that is forgotten, the first one remembered. */
const FIRST_BLOCK = `
  SELECT coalesce(min(blocks.number) FILTER (WHERE blocks.time >= payables.created_at - interval '10 minutes'), min(blocks.number))::text AS number
  FROM blocks, payables WHERE blocks.chain_id = $1 AND payables.chain_id = $1 AND payables.order_id = $2`

export type TransferStore = ReturnType<typeof transferStore>

export function transferStore(database: Database, chainId: number) {
  const list = async (name: string, where: string, value: unknown): Promise<Transfer[]> => {
    const text = `SELECT ${COLUMNS} FROM transfers WHERE chain_id = $1 AND ${where} ORDER BY block_number, log_index`
    return (await database.query<Row>({ name: `transfers-${name}`, text }, [chainId, value])).rows.map(toTransfer)
  }
  return {
    async add(epoch: bigint, found: readonly Transfer[]): Promise<void> {
      const column = <T>(pick: (one: Transfer) => T) => found.map(pick)
      await fenced(
        database.query({ name: 'transfers-add', text: ADD }, [
          ...[chainId, epoch, column(one => one.txHash), column(one => one.logIndex), column(one => one.memo), column(one => one.merchant)],
          ...[column(one => one.router), column(one => one.address), column(one => one.payer), column(one => one.amountUnits)],
          ...[column(one => one.feeUnits), column(one => one.blockNumber), column(one => one.blockHash), column(one => one.blockTime)],
        ]),
      )
    },
    /** Found up to this block, and not told of. */
    untold: (block: number) => list('untold', 'NOT told AND block_number <= $2', block),
    ofMemos: (memos: readonly string[]) => list('of-memos', 'memo = ANY($2)', [...new Set(memos)]),
    /** They are in the outbox. Dying before this tells them again, which their reader knows. */
    async told(some: readonly Transfer[]): Promise<void> {
      const text = `UPDATE transfers SET told = true FROM unnest($2::text[], $3::int[]) AS one (tx_hash, log_index)
        WHERE chain_id = $1 AND transfers.tx_hash = one.tx_hash AND transfers.log_index = one.log_index`
      await database.query({ name: 'transfers-told', text }, [chainId, some.map(one => one.txHash), some.map(one => one.logIndex)])
    },
    async lookedUpTo(): Promise<number | undefined> {
      const text = 'SELECT block_number::text AS number FROM looks WHERE chain_id = $1'
      const { rows } = await database.query<{ number: string }>(text, [chainId])
      return rows[0] && Number(rows[0].number)
    },
    async looked(epoch: bigint, block: number): Promise<void> {
      await fenced(database.query({ name: 'looks-write', text: LOOKED }, [chainId, epoch, block]))
    },
    async firstBlock(orderId: string): Promise<number> {
      const { rows } = await database.query<{ number: string | null }>(FIRST_BLOCK, [chainId, orderId])
      return Number(rows[0]?.number ?? 0)
    },
  }
}

function toTransfer(row: Row): Transfer {
  return {
    txHash: row.tx_hash,
    logIndex: row.log_index,
    memo: row.memo,
    merchant: row.merchant,
    router: row.router,
    address: row.address,
    payer: row.payer,
    amountUnits: BigInt(row.units),
    feeUnits: BigInt(row.fee),
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash,
    blockTime: row.block_time,
  }
}
