import type { Database } from '@ponte/service-kit'
import type { PaymentKind } from '../logs/payment-received'
import type { Payment, PaymentState } from '../payment'

const COLUMNS = `tx_hash, kind, state, router, memo, merchant, payer, amount::text, fee::text, deposit, block_number::text, block_hash,
  extract(epoch FROM block_time)::float8 AS block_time, log_index`

interface Row {
  tx_hash: string
  kind: PaymentKind
  state: PaymentState
  router: string
  memo: string
  merchant: string
  payer: string
  amount: string
  fee: string | null
  deposit: string | null
  block_number: string
  block_hash: string
  block_time: number
  log_index: number
}

const IS_LIVE = "state <> 'orphaned'"
// In blocks that are not read for its address, a transfer is not known to the scan and to those who check it.
const IS_COVERED = `(kind <> 'transfer' OR EXISTS (
  SELECT 1 FROM coverage WHERE coverage.chain_id = $1 AND coverage.subject = payments.deposit AND coverage.blocks @> payments.block_number))`

/** The rows of the chain's ledger, for deciding what to publish next. Raw SQL, because the plans matter: each of these runs in every turn. */
export function paymentStore(database: Database, chainId: number) {
  const find = async (name: string, where: string, ...values: unknown[]): Promise<Payment[]> => {
    const text = `SELECT ${COLUMNS} FROM payments WHERE chain_id = $1 AND ${where}`
    const { rows } = await database.query<Row>({ name: `payments-${name}`, text }, [chainId, ...values])
    return rows.map(toPayment)
  }
  const ordered = 'ORDER BY block_number, log_index'
  return {
    /** Detected above the confirmed block, up to this one: what lies below was not among what nodes agreed on now. */
    toConfirm: (confirmed: number, line: number) =>
      find('to-confirm', `state = 'detected' AND block_number > $2 AND block_number <= $3 AND ${IS_COVERED} ${ordered}`, confirmed, line),
    /** Part of the chain above this block, as far as we knew. */
    above: (number: number) => find('above', `${IS_LIVE} AND block_number > $2 ${ordered}`, number),
    /** Seen in these blocks, and not confirmed. */
    detected: (from: number, to: number) => find('detected', `state = 'detected' AND block_number BETWEEN $2 AND $3 ${ordered}`, from, to),
    /** Part of the chain in these blocks, by the scan or by an auditor. */
    live: (from: number, to: number) => find('live', `block_number BETWEEN $2 AND $3 AND ${IS_LIVE} ${ordered}`, from, to),
    /** Part of the chain in these blocks, as far as the scan knows. */
    between: (from: number, to: number) =>
      find('between', `block_number BETWEEN $2 AND $3 AND ${IS_LIVE} AND ${IS_COVERED} ${ordered}`, from, to),
    /** The same without transfers to addresses, of which a stranger makes any number. */
    routedBetween: (from: number, to: number) =>
      find('routed-between', `block_number BETWEEN $2 AND $3 AND ${IS_LIVE} AND kind <> 'transfer' ${ordered}`, from, to),
    /** The first of these that are confirmed, in whole blocks: so many, and those that share the last one's block. */
    confirmedFrom: (from: number, to: number, least: number) =>
      find(
        'confirmed-from',
        `state = 'confirmed' AND block_number BETWEEN $2 AND $3 ORDER BY block_number FETCH FIRST $4 ROWS WITH TIES`,
        from,
        to,
        least,
      ),
    /** All of these memos, or the first so many. */
    withMemos: async (memos: readonly string[], limit: number | null): Promise<Payment[]> =>
      memos.length === 0 ? [] : find('with-memos', `memo = ANY($2::text[]) AND ${IS_LIVE} ${ordered} LIMIT $3`, memos, limit),
  }
}

const toPayment = (row: Row): Payment => ({
  txHash: row.tx_hash,
  kind: row.kind,
  state: row.state,
  router: row.router,
  memo: row.memo,
  merchant: row.merchant,
  payer: row.payer,
  amount: BigInt(row.amount),
  fee: row.fee === null ? null : BigInt(row.fee),
  deposit: row.deposit,
  blockNumber: Number(row.block_number),
  blockHash: row.block_hash,
  blockTime: row.block_time,
  logIndex: row.log_index,
})
