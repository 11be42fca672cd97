import type { LocalChain } from '@ponte/local-servers'
import { testUsdcAbi } from '@ponte/payment-router'
import { Contract } from 'ethers'
import type { Ledger, Row } from '../ledger'
import { payoutsOf } from '../steps'
import type { Audited } from '.'
import { type ChainPayment, type ChainRecord, chainRecord, type Flow } from './chain-record'
import { directsOf } from './directs'
import type { Payout } from './payouts'
import { returnedBy } from './refunds'
import { transfersOf } from './transfers'

/** Invariant 1: each payment and each sweep is confirmed exactly once, on its order or among the unmatched, to the unit, per merchant and in total. */
export async function paymentsAgainstChain(audited: Audited): Promise<string[]> {
  const { ledger } = audited
  const record = await chainRecord(audited)
  return [
    ...(await paymentsRecordedOnce(record.payments, ledger)),
    ...(await sweepsRecordedOnce(record.sweeps, ledger)),
    ...(await listenersAgainstOrders(audited)),
    ...(await sumsPerMerchant(record, audited)),
    ...(await sumsPerAddress(record, audited)),
  ]
}

/** Plain transfers to payout addresses have none, and are judged by their entries. */
const HAS_MEMO = "memo <> repeat('0', 64)"
const CONFIRMED_PAYMENTS = `
  SELECT p.kind, p.tx_hash, o.memo, p.gross_units::text AS gross FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.status = 'confirmed'
  UNION ALL
  SELECT kind, tx_hash, memo, gross_units::text FROM unmatched_payments WHERE status = 'confirmed' AND ${HAS_MEMO}`

async function paymentsRecordedOnce(onChain: readonly ChainPayment[], ledger: Ledger): Promise<string[]> {
  const booked = (await ledger.query('orders', CONFIRMED_PAYMENTS)).map(row => `${row.kind} ${row.tx_hash} ${row.memo} ${row.gross}`)
  const paid = onChain.map(({ kind, txHash, memo, gross }) => `${kind} ${txHash} ${memo} ${gross}`)
  return countedAlike('payment', paid, booked)
}

async function sweepsRecordedOnce(onChain: readonly Flow[], ledger: Ledger): Promise<string[]> {
  const rows = await ledger.query('orders', "SELECT tx_hash, memo, gross_units::text AS gross FROM sweeps WHERE status = 'confirmed'")
  return countedAlike(
    'sweep',
    onChain.map(({ txHash, memo, gross }) => `${txHash} ${memo} ${gross}`),
    rows.map(row => `${row.tx_hash} ${row.memo} ${row.gross}`),
  )
}

/** One transaction may hold the same payment several times: as often as on the chain it must be in the books. */
function countedAlike(what: string, onChain: readonly string[], booked: readonly string[]): string[] {
  const [chain, books] = [tally(onChain), tally(booked)]
  return [...new Set([...chain.keys(), ...books.keys()])].flatMap(key => {
    const [there, here] = [chain.get(key) ?? 0, books.get(key) ?? 0]
    return there === here ? [] : [`the ${what} ${key} is ${there} times on the chain and ${here} times confirmed in the books of orders`]
  })
}

function tally(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

const PUBLISHED = "SELECT chain_id || ':' || block_hash || ':' || log_index AS id, kind = 'sweep' AS is_sweep, state FROM payments"

/** Every event had its effect: orders has each payment, and each sweep that was ever confirmed, as its listener last published it. */
async function listenersAgainstOrders({ ledger, listeners }: Audited): Promise<string[]> {
  const published = (await Promise.all(listeners.map(listener => ledger.query(listener, PUBLISHED)))).flat()
  const known = new Map<string, Row>()
  const differences: string[] = []
  for (const row of await ledger.query(
    'orders',
    `SELECT id, status, 'payments' AS place FROM payments
     UNION ALL SELECT id, status, 'unmatched_payments' FROM unmatched_payments
     UNION ALL SELECT id, status, 'sweeps' FROM sweeps`,
  )) {
    const other = known.get(String(row.id))
    if (other) differences.push(`payment ${row.id} is in ${other.place} and in ${row.place}`)
    known.set(String(row.id), row)
  }
  for (const { id, is_sweep, state } of published) {
    const row = known.get(String(id))
    // A payment that vanished before it was published was never known, and a late word does not bring back one that is gone.
    if (!row && state === 'orphaned') continue
    if (!row) differences.push(`payment ${id} (${state}) is known to the listener and unknown to orders`)
    else if (row.status !== state) differences.push(`payment ${id} is ${state} and orders has it ${row.status}`)
    else if (is_sweep !== (row.place === 'sweeps')) differences.push(`${is_sweep ? 'sweep' : 'payment'} ${id} is in ${row.place}`)
  }
  return differences
}

const balanceOf = ({ usdcAddress, provider }: LocalChain, address: string): Promise<bigint> =>
  new Contract(usdcAddress, testUsdcAbi, provider).getFunction('balanceOf')(address)
const sumOf = <T>(items: readonly T[], value: (item: T) => bigint) => items.reduce((sum, item) => sum + value(item), 0n)

/** Gross amounts against the books; what the routers paid out against the merchant's balance. */
async function sumsPerMerchant({ payments, sweeps }: ChainRecord, { chains, ledger, traffic }: Audited): Promise<string[]> {
  const payouts = [...payments.filter(({ kind }) => kind === 'router'), ...sweeps]
  const differences: string[] = []
  for (const merchant of traffic.merchants) {
    const { body } = merchant
    const addresses = payoutsOf(merchant)
    const isTheirs = ({ merchant }: Flow) => addresses.includes(merchant)
    const paid = sumOf(payments.filter(isTheirs), ({ gross }) => gross)
    const paidOut = sumOf(payouts.filter(isTheirs), ({ share }) => share)
    const returned = sumOf(await returnedBy({ chains }, addresses), ({ amount }) => amount)
    const balances = chains.flatMap(chain => addresses.map(address => balanceOf(chain, address)))
    const balance = sumOf(await Promise.all(balances), held => held)
    const booked = await bookedUnits(ledger, addresses)
    if (booked !== paid) differences.push(`merchant ${body.id} was paid ${paid} gross, and the books have ${booked}`)
    const direct = sumOf(await plainTransfersTo(addresses, chains), ({ units }) => units)
    if (balance !== paidOut + direct - returned)
      differences.push(
        `merchant ${body.id} has ${balance}, the routers paid out ${paidOut} and ${direct} came directly, of which ${returned} went back`,
      )
  }
  const [total, booked] = [sumOf(payments, ({ gross }) => gross), await bookedUnits(ledger, null)]
  if (booked !== total) differences.push(`the books have ${booked} in all, the chains have ${total}`)
  return differences
}

/** Also while an address is not its merchant's, where nothing stands in the books. */
async function plainTransfersTo(addresses: readonly string[], chains: Audited['chains']) {
  const always = addresses.map((address): Payout => ({ kind: 'payout', at: 0, merchant: address, version: 1, address, since: 0 }))
  const found = await Promise.all(chains.map(async chain => directsOf(await transfersOf(chain), always, chain.feeReceiver)))
  return found.flat()
}

/** Confirmed gross units on orders and among the unmatched, of one merchant's addresses, the first of which all its orders have, or of all. */
async function bookedUnits(ledger: Ledger, addresses: readonly string[] | null): Promise<bigint> {
  const [row] = await ledger.query(
    'orders',
    `SELECT (
       (SELECT coalesce(sum(confirmed_units), 0) FROM orders WHERE $1::text[] IS NULL OR lower(merchant_address) = ANY($1)) +
       (SELECT coalesce(sum(gross_units), 0) FROM unmatched_payments
        WHERE status = 'confirmed' AND ${HAS_MEMO} AND ($1::text[] IS NULL OR lower(merchant_address) = ANY($1))))::text AS sum`,
    [addresses],
  )
  return BigInt(String(row?.sum))
}

/** Transfers to a deposit address were swept from it or lie there; nothing lies there once everything is quiet. */
async function sumsPerAddress({ payments, sweeps, addresses }: ChainRecord, { chains }: Audited): Promise<string[]> {
  const differences: string[] = []
  const used = new Set([...payments, ...sweeps].flatMap(({ deposit }) => deposit ?? []))
  // Money at the address that an order has on another chain is seen by no listener (docs/money.md).
  const isPayable = (chain: LocalChain) => (address: string) => addresses.get(chain)?.has(address)
  for (const [chain, address] of chains.flatMap(chain => [...used].filter(isPayable(chain)).map(address => [chain, address] as const))) {
    const isHere = (flow: Flow) => flow.chain === chain && flow.deposit === address
    const sent = sumOf(payments.filter(isHere), ({ gross }) => gross)
    const swept = sumOf(sweeps.filter(isHere), ({ gross }) => gross)
    const balance = await balanceOf(chain, address)
    const about = `on ${chain.chainId} deposit address ${address} of the order with memo ${addresses.get(chain)?.get(address)?.memo}`
    if (sent !== swept + balance) differences.push(`${about} was sent ${sent}, and ${swept} was swept and ${balance} lies there`)
    if (balance > 0n) differences.push(`${about} still holds ${balance}`)
  }
  return differences
}
