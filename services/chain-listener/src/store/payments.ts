import type { Database } from '@ponte/service-kit'
import type { PaymentKind } from '../logs/payment-received'
import type { Payment, PaymentState } from '../payment'

const COLUMNS = `tx_hash, ordinal, kind, state, revision, router, memo, merchant, payer, amount::text, deposit, block_number::text, block_hash,
  extract(epoch FROM block_time)::float8 AS block_time, log_index`

interface Row {
  tx_hash: string
  ordinal: number
  kind: PaymentKind
  state: PaymentState
  revision: number
  router: string
  memo: string
  merchant: string
  payer: string
  amount: string
  deposit: string | null
  block_number: string
  block_hash: string
  block_time: number
  log_index: number
}

// A transfer to an address that is not synced was found by its backfill; the scan and those who check it do not know it yet.
const SCANNED = `state <> 'orphaned' AND (kind <> 'transfer' OR EXISTS (
  SELECT 1 FROM payables WHERE payables.chain_id = $1 AND payables.address = payments.deposit AND payables.synced))`

/** The rows of the chain's ledger, for deciding what to publish next. Raw SQL, because the plans matter: each of these runs in every turn. */
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
    /** Detected, not yet confirmed, up to this block. */
    toConfirm: (line: number) => find('to-confirm', "state = 'detected' AND block_number <= $2", line),
    /** Part of the chain above this block, as far as we knew. */
    above: (number: number) => find('above', "state <> 'orphaned' AND block_number > $2", number),
    /** Part of the chain in these blocks, as far as the scan knows. */
    between: (from: number, to: number) => find('between', `block_number BETWEEN $2 AND $3 AND ${SCANNED}`, from, to),
  }
}

const toPayment = (row: Row): Payment => ({
  txHash: row.tx_hash,
  ordinal: row.ordinal,
  kind: row.kind,
  state: row.state,
  revision: row.revision,
  router: row.router,
  memo: row.memo,
  merchant: row.merchant,
  payer: row.payer,
  amount: BigInt(row.amount),
  deposit: row.deposit,
  blockNumber: Number(row.block_number),
  blockHash: row.block_hash,
  blockTime: row.block_time,
  logIndex: row.log_index,
})
