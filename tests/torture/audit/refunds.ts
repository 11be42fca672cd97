import { formatUnits } from 'ethers'
import { payoutsOf } from '../steps'
import type { Audited } from '.'
import { chainRecord } from './chain-record'
import { addressIn, TRANSFER } from './transfers'

/** Transfers from payout addresses, by the token's logs alone. */
export async function returnedBy({ chains }: Pick<Audited, 'chains'>, payouts: readonly string[]) {
  const from = payouts.map(payout => `0x${payout.slice(2).padStart(64, '0')}`)
  const found = chains.map(async chain => {
    const { provider, usdcAddress } = chain
    const logs = await provider.getLogs({ fromBlock: 0, toBlock: 'latest', address: usdcAddress, topics: [TRANSFER, from] })
    return logs.map(({ topics, data }) => ({ chain, payout: addressIn(topics[1]), payee: addressIn(topics[2]), amount: BigInt(data) }))
  })
  return (await Promise.all(found)).flat()
}

/**
 * Each refund has gone back once and whole, or not at all; nothing else left the wallet; and no order returned more than came for it. Their entries are held
 * against the chain with all others.
 */
export async function refundsAgainstChain(audited: Audited): Promise<string[]> {
  const { ledger, traffic } = audited
  const { payments, addresses } = await chainRecord(audited)
  const differences: string[] = []
  const rows = await ledger.query(
    'orders',
    'SELECT lower(payee) AS payee, merchant_id, units::text, ended, cancelled_at IS NOT NULL AS is_cancelled FROM refunds',
  )
  const booked = new Map(rows.map(row => [String(row.payee), row]))
  for (const each of traffic.merchants) {
    const { body } = each
    const sent = await returnedBy(audited, payoutsOf(each))
    const back = new Map<string, bigint>()
    for (const { chain, payout, payee, amount } of sent) {
      const asked = traffic.refunds.get(payee)
      const paidAt = [...(addresses.get(chain)?.values() ?? [])].find(({ memo }) => memo === asked?.order.memo)?.merchant
      if (asked && payout !== paidAt) differences.push(`the refund to ${payee} was paid from ${payout}, and its order is paid at ${paidAt}`)
      if (!asked) differences.push(`merchant ${body.id} sent ${amount} to ${payee}, for which there is no refund`)
      else if (back.has(payee)) differences.push(`the refund to ${payee} was paid twice`)
      else if (asked.amount !== amount) differences.push(`the refund to ${payee} is of ${asked.amount}, and ${amount} was paid`)
      back.set(payee, (back.get(payee) ?? 0n) + amount)
    }
    for (const [payee, { merchant, isSigned }] of traffic.refunds) {
      if (merchant.body.id !== body.id) continue
      const row = booked.get(payee)
      if (back.has(payee) !== (row?.ended === 'transferred')) differences.push(`the refund to ${payee} is ${row?.ended} in the books`)
      if (back.has(payee) && !isSigned) differences.push(`the refund to ${payee} was paid and never signed`)
      if (back.has(payee) && row?.is_cancelled) differences.push(`the refund to ${payee} was cancelled, and paid`)
    }
  }
  // A refund that was signed before a reorganisation removed its payment may still be mined.
  const orphaned = await ledger.query(
    'orders',
    "SELECT memo FROM payments JOIN orders ON orders.id = order_id WHERE payments.status = 'orphaned'",
  )
  const shrunk = new Set(orphaned.map(row => row.memo))
  const promised = new Map<string, bigint>()
  for (const [payee, { order }] of traffic.refunds) {
    const row = booked.get(payee)
    if (row && row.is_cancelled !== true) promised.set(order.memo, (promised.get(order.memo) ?? 0n) + BigInt(String(row.units)))
  }
  for (const [memo, sum] of promised) {
    const came = payments.reduce((total, payment) => (payment.memo === memo ? total + payment.gross : total), 0n)
    if (sum > came && !shrunk.has(memo))
      differences.push(`${formatUnits(sum, 6)} of the order with memo ${memo} go back, and ${formatUnits(came, 6)} came`)
  }
  return differences
}
