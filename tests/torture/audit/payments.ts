import { PAYMENT_RECEIVED_TOPIC, testUsdcAbi } from '@ponte/payment-router'
import { Contract } from 'ethers'
import type { Ledger, Row } from '../ledger'
import type { Audited } from '.'

export interface ChainPayment {
  txHash: string
  logIndex: number
  memo: string
  merchant: string
  shareUnits: bigint
}

/** Every PaymentReceived of the canonical chain. */
export async function paymentsOnChain({ world, routers }: Pick<Audited, 'world' | 'routers'>): Promise<ChainPayment[]> {
  const logs = await world.chain.provider.getLogs({
    address: [...routers],
    topics: [PAYMENT_RECEIVED_TOPIC],
    fromBlock: 0,
    toBlock: 'latest',
  })
  return logs.map(({ transactionHash, index, topics, data }) => ({
    txHash: transactionHash,
    logIndex: index,
    memo: topics[1]?.slice(2) ?? '',
    merchant: `0x${topics[2]?.slice(26)}`,
    shareUnits: BigInt(data.slice(0, 66)),
  }))
}

/** Invariant 1: each is exactly one confirmed payment, on its order or among the unmatched, to the unit, per merchant and in total. */
export async function paymentsAgainstChain(audited: Audited): Promise<string[]> {
  const { ledger } = audited
  const onChain = await paymentsOnChain(audited)
  return [
    ...(await eachRecordedOnce(onChain, ledger)),
    ...(await listenerAgainstOrders(ledger)),
    ...(await sumsPerMerchant(onChain, audited)),
  ]
}

/** What stands for something else: the transfers to a deposit address, once their sweep is confirmed. */
const STANDING = `
  SELECT id, tx_hash, memo, share_units::text, place FROM (
    SELECT p.id, p.tx_hash, o.memo, p.share_units, 'order' AS place FROM payments p JOIN orders o ON o.id = p.order_id
    WHERE p.status = 'confirmed' AND NOT EXISTS (
      SELECT 1 FROM payments s WHERE s.order_id = p.order_id AND s.status <> 'orphaned' AND p.id = ANY(s.replaces))
    UNION ALL
    SELECT id, tx_hash, memo, share_units, 'unmatched' FROM unmatched_payments WHERE status = 'confirmed') AS standing`

const keyOf = (one: { txHash: string; memo: string; shareUnits: bigint }) => `${one.txHash} ${one.memo} ${one.shareUnits}`

/** One transaction may hold the same payment several times: as often as on the chain it must be in the books. */
async function eachRecordedOnce(onChain: readonly ChainPayment[], ledger: Ledger): Promise<string[]> {
  const recorded = (await ledger.query('orders', STANDING)).map(row => ({
    ...{ txHash: String(row.tx_hash), memo: String(row.memo), shareUnits: BigInt(String(row.share_units)) },
  }))
  const [chain, books] = [tally(onChain), tally(recorded)]
  return [...new Set([...chain.keys(), ...books.keys()])].flatMap(key => {
    const [there, here] = [chain.get(key) ?? 0, books.get(key) ?? 0]
    return there === here ? [] : [`the payment ${key} is ${there} times on the chain and ${here} times confirmed in the books of orders`]
  })
}

const tally = (payments: readonly { txHash: string; memo: string; shareUnits: bigint }[]) => {
  const counts = new Map<string, number>()
  for (const payment of payments) counts.set(keyOf(payment), (counts.get(keyOf(payment)) ?? 0) + 1)
  return counts
}

/** Every payment event had its effect: orders has each payment as the listener last published it. A sweep is no payment. */
async function listenerAgainstOrders(ledger: Ledger): Promise<string[]> {
  const said = await ledger.query(
    'chain-listener',
    "SELECT chain_id || ':' || tx_hash || ':' || ordinal AS id, revision, state FROM payments WHERE kind <> 'sweep'",
  )
  const known = new Map<string, Row>()
  const differences: string[] = []
  for (const row of await ledger.query(
    'orders',
    "SELECT id, status, revision, 'payments' AS place FROM payments UNION ALL SELECT id, status, revision, 'unmatched_payments' FROM unmatched_payments",
  )) {
    if (known.has(String(row.id))) differences.push(`payment ${row.id} is in payments and in unmatched_payments`)
    known.set(String(row.id), row)
  }
  for (const { id, state, revision } of said) {
    const row = known.get(String(id))
    if (!row) differences.push(`payment ${id} (${state}) is known to the listener and unknown to orders`)
    else if (row.revision !== revision || row.status !== state)
      differences.push(`payment ${id} is ${state} (revision ${revision}) and orders believes ${row.status} (${row.revision})`)
  }
  return differences
}

async function sumsPerMerchant(onChain: readonly ChainPayment[], { world, ledger, traffic }: Audited): Promise<string[]> {
  const usdc = new Contract(world.chain.usdcAddress, testUsdcAbi, world.chain.provider)
  const differences: string[] = []
  for (const { body } of traffic.merchants) {
    const address = String(body.payout_address).toLowerCase()
    const paid = onChain.filter(({ merchant }) => merchant === address).reduce((sum, { shareUnits }) => sum + shareUnits, 0n)
    const held: bigint = await usdc.getFunction('balanceOf')(address)
    const [orders] = await ledger.query(
      'orders',
      'SELECT coalesce(sum(received_units), 0)::text AS sum FROM orders WHERE lower(merchant_address) = $1',
      [address],
    )
    const [apart] = await ledger.query(
      'orders',
      "SELECT coalesce(sum(share_units), 0)::text AS sum FROM unmatched_payments WHERE status = 'confirmed' AND lower(merchant_address) = $1",
      [address],
    )
    const booked = BigInt(String(orders?.sum)) + BigInt(String(apart?.sum))
    if (booked !== paid || held !== paid)
      differences.push(
        `merchant ${body.id} was paid ${paid}, has ${held}, and the books say ${orders?.sum} on orders and ${apart?.sum} apart`,
      )
  }
  const [all] = await ledger.query(
    'orders',
    `SELECT ((SELECT coalesce(sum(received_units), 0) FROM orders) +
      (SELECT coalesce(sum(share_units), 0) FROM unmatched_payments WHERE status = 'confirmed'))::text AS sum`,
  )
  const total = onChain.reduce((sum, { shareUnits }) => sum + shareUnits, 0n)
  if (BigInt(String(all?.sum)) !== total) differences.push(`the books say ${all?.sum} in all, the chain says ${total}`)
  return differences
}
