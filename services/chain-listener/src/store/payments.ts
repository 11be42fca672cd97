import type { Database } from '@ponte/service-kit'
import type { Payment, PaymentState } from '../payment'

const COLUMNS = `tx_hash, ordinal, state, revision, router, memo, merchant, payer, share::text, fee::text, deposit, block_number::text, block_hash,
  extract(epoch FROM block_time)::float8 AS block_time, log_index`

interface Row {
  tx_hash: string
  ordinal: number
  state: PaymentState
  revision: number
  router: string
  memo: string
  merchant: string
  payer: string
  share: string
  fee: string
  deposit: string | null
  block_number: string
  block_hash: string
  block_time: number
  log_index: number
}

/** What we have of the payments, for deciding what to say next. SQL, because the plans matter: each of these runs in every turn. */
export function paymentStore(database: Database, chainId: number) {
  const find = async (name: string, where: string, ...values: unknown[]): Promise<Payment[]> => {
    const text = `SELECT ${COLUMNS} FROM payments WHERE chain_id = $1 AND ${where} ORDER BY block_number, log_index`
    const { rows } = await database.query<Row>({ name: `payments-${name}`, text }, [chainId, ...values])
    return rows.map(toPayment)
  }
  return {
    /** Everything known of these transactions. */
    ofTransactions: async (txHashes: readonly string[]): Promise<Payment[]> =>
      txHashes.length === 0 ? [] : find('of-transactions', 'tx_hash = ANY($2)', [...new Set(txHashes)]),
    /** Everything known to have come to these deposit addresses, whatever became of it. */
    toDeposits: (addresses: readonly string[]) => find('to-deposits', 'deposit = ANY($2)', addresses),
    /** Detected, not yet confirmed, up to this block. */
    toConfirm: (line: number) => find('to-confirm', "state = 'detected' AND block_number <= $2", line),
    /** Part of the chain above this block, as far as we knew. */
    above: (number: number) => find('above', "state <> 'orphaned' AND block_number > $2", number),
    /** Part of the chain in these blocks, as far as we know. */
    between: (from: number, to: number) => find('between', "state <> 'orphaned' AND block_number BETWEEN $2 AND $3", from, to),
  }
}

function toPayment(row: Row): Payment {
  return {
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    state: row.state,
    revision: row.revision,
    router: row.router,
    memo: row.memo,
    merchant: row.merchant,
    payer: row.payer,
    share: BigInt(row.share),
    fee: BigInt(row.fee),
    deposit: row.deposit,
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash,
    blockTime: row.block_time,
    logIndex: row.log_index,
  }
}
