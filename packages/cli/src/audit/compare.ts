import { depositAddress, type Entry, type Order, type Summary } from '@ponte/sdk'
import { unitsOf, usdcOf } from './amount'
import { keyOf, type RouterLog, type TransferLog } from './logs'

/** By the merchant's own configuration; addresses are lower-case. */
export interface AuditTerms {
  chainId: number
  payouts: readonly string[]
  routers: readonly string[]
  token: string
  from: number
  /** The last block that is compared. */
  to: number
  /** From this block on the ledger must have what came to a payout address past the routers. */
  directFrom: number
}

export interface ChainFacts {
  /** `PaymentReceived` with one of the payout addresses as its merchant. */
  paid: readonly RouterLog[]
  /** Transfers to the deposit addresses of every memo that is known. */
  deposited: readonly TransferLog[]
  /** Transfers to and from the payout addresses. */
  received: readonly TransferLog[]
  sent: readonly TransferLog[]
}

export type AuditOrder = Pick<Order, 'id' | 'memo'> & {
  payment: Place &
    Pick<Order['payment'], 'merchant_address'> & { networks?: readonly (Place & { merchant_address?: string | undefined })[] }
}
type Place = Pick<Order['payment'], 'chain_id' | 'router_address' | 'token_address' | 'deposit_address'>
export type AuditEntry = Pick<
  Entry,
  'sequence' | 'kind' | 'amount' | 'chain_id' | 'tx_hash' | 'log_index' | 'block_number' | 'address' | 'payer_address' | 'reverses'
>

/** A payout address to which the server does not count plain transfers from a block on, by its own word. */
export type Uncounted = Summary['uncounted'][number]

export interface AuditDifference {
  kind: 'missing_in_ledger' | 'not_on_chain' | 'other_amount' | 'other_block' | 'not_received' | 'other_address' | 'other_payer' | 'gap'
  tx_hash: string | null
  log_index: number | null
  detail: string
}

/** In units. */
export interface Sums {
  came: bigint
  fee: bigint
  settled: bigint
}

export interface AuditReport {
  differences: AuditDifference[]
  /** Transfers to a payout address past the routers, of blocks before `directFrom`, that the ledger does not have: information. */
  direct: TransferLog[]
  /** Transfers that the ledger does not have as the server does not count them: information. */
  uncounted: { address: string; from_block: number; transfers: number; amount: bigint }[]
  /** Entries of other chains or of blocks that were not looked at. */
  unchecked: number
  sums: { node: Sums; ledger: Sums }
}

const NAMES: Record<keyof Sums, string> = { came: 'came', fee: 'fee', settled: 'settled' }
const PARTS = ['came', 'fee', 'settled'] as const
const PART_OF: Partial<Record<Entry['kind'], keyof Sums>> = { payment: 'came', unmatched: 'came', fee: 'fee', settled: 'settled' }

/** Deposit addresses, each with its memo, of every memo and every pair of a router and a payout address. */
export function depositsOf(memos: Iterable<string>, { routers, payouts }: Pick<AuditTerms, 'routers' | 'payouts'>): Map<string, string> {
  const deposits = new Map<string, string>()
  for (const memo of memos)
    for (const router of routers) for (const payoutAddress of payouts) deposits.set(depositAddress({ router, memo, payoutAddress }), memo)
  return deposits
}

/** Compares what a node has with the ledger that a server shows, movement by movement. */
export function compare(
  chain: ChainFacts,
  entries: readonly AuditEntry[],
  orders: readonly AuditOrder[],
  terms: AuditTerms,
  ended: readonly Uncounted[] = [],
): AuditReport {
  const isChecked = ({ chain_id, block_number }: AuditEntry) =>
    chain_id === terms.chainId && block_number >= terms.from && block_number <= terms.to
  const checked = entries.filter(isChecked)
  const booked = bookedOf(checked)
  const due = dueOf(chain, booked, new Set(orders.map(({ memo }) => memo)), terms)
  const { plain, differences: unreceived } = receivedOf(chain)
  const direct = directOf(plain, checked, terms, ended)
  return {
    differences: [
      ...gapsIn(entries),
      ...orders.flatMap(order => addressesOf(order, terms)),
      ...movementsOf(due, booked),
      ...partiesOf(chain, standingOf(checked)),
      ...unreceived,
      ...returnsOf(chain, checked),
      ...direct.differences,
    ],
    direct: direct.earlier,
    uncounted: direct.uncounted,
    unchecked: entries.length - checked.length,
    sums: { node: sumOf([...due.values(), ...direct.due.map(toSums)]), ledger: sumOf([...booked.values(), ...direct.booked.map(toSums)]) },
  }
}

interface Movement extends Sums {
  txHash: string
  logIndex: number
  blockNumber: number
}

/** Net amounts of the ledger by the log that they are about: what was taken back is gone. */
function bookedOf(entries: readonly AuditEntry[]): Map<string, Movement> {
  const booked = new Map<string, Movement>()
  for (const { kind, amount, tx_hash, log_index, block_number } of entries) {
    const part = PART_OF[kind]
    if (!part) continue
    const place = { txHash: tx_hash.toLowerCase(), logIndex: log_index }
    const one = booked.get(keyOf(place)) ?? { ...place, blockNumber: block_number, came: 0n, fee: 0n, settled: 0n }
    booked.set(keyOf(place), { ...one, [part]: one[part] + unitsOf(amount) })
  }
  return new Map([...booked].filter(([, one]) => PARTS.some(part => one[part] !== 0n)))
}

/** Required entries of the ledger, by the node's logs alone. */
function dueOf(
  { paid, deposited }: ChainFacts,
  booked: ReadonlyMap<string, Movement>,
  ordered: ReadonlySet<string>,
  terms: AuditTerms,
): Map<string, Movement> {
  const memos = depositsOf([...ordered, ...paid.map(({ memo }) => memo)], terms)
  const isKnown = (address: string) => {
    const memo = memos.get(address)
    return memo !== undefined && ordered.has(memo)
  }
  // Where no order has the address, the ledger has what came as transfers or, where only their sweep is known, with that.
  const asTransfers = new Set(deposited.filter(one => isKnown(one.to) || booked.get(keyOf(one))).map(({ to }) => to))
  const due = new Map<string, Movement>()
  const add = ({ txHash, logIndex, blockNumber }: RouterLog | TransferLog, sums: Sums) => {
    if (PARTS.some(part => sums[part] !== 0n)) due.set(keyOf({ txHash, logIndex }), { txHash, logIndex, blockNumber, ...sums })
  }
  for (const log of paid) {
    const isSweep = log.payer === depositAddress({ router: log.router, memo: log.memo, payoutAddress: log.merchant })
    const isBookedAsTransfers = isSweep && (isKnown(log.payer) || asTransfers.has(log.payer))
    add(log, { came: isBookedAsTransfers ? 0n : log.share + log.fee, fee: log.fee, settled: log.share })
  }
  for (const one of deposited) if (asTransfers.has(one.to)) add(one, { came: one.amount, fee: 0n, settled: 0n })
  return due
}

function movementsOf(due: ReadonlyMap<string, Movement>, booked: ReadonlyMap<string, Movement>): AuditDifference[] {
  const onlyDue = [...due].flatMap(([key, one]): AuditDifference[] => {
    const ledger = booked.get(key)
    if (!ledger)
      return [difference('missing_in_ledger', one, `the node has ${describe(one)} in block ${one.blockNumber}, the ledger nothing`)]
    const parts = PARTS.filter(part => one[part] !== ledger[part]).map(part =>
      difference('other_amount', one, `${NAMES[part]} is ${usdcOf(one[part])} USDC on the node and ${usdcOf(ledger[part])} in the ledger`),
    )
    return parts
  })
  const onlyBooked = [...booked].flatMap(([key, one]) =>
    due.has(key)
      ? []
      : [difference('not_on_chain', one, `the ledger has ${describe(one)} in block ${one.blockNumber}, the node nothing of yours`)],
  )
  return [...onlyDue, ...onlyBooked]
}

/** Without the pairs that come to nothing: a transaction that was mined again stands in another block than what was taken back of it. */
function standingOf(entries: readonly AuditEntry[]): AuditEntry[] {
  const known = new Map(entries.map(one => [one.sequence, one]))
  const gone = new Set(
    entries.flatMap(({ sequence, reverses, kind, amount }) => {
      const of = reverses === null ? undefined : known.get(reverses)
      return of?.reverses === null && of.kind === kind && unitsOf(of.amount) === -unitsOf(amount) ? [sequence, of.sequence] : []
    }),
  )
  return entries.filter(({ sequence }) => !gone.has(sequence))
}

/** Block, payer and address of each entry are those of its log. */
function partiesOf({ paid, deposited }: ChainFacts, entries: readonly AuditEntry[]): AuditDifference[] {
  const logs = new Map([...paid, ...deposited].map(log => [keyOf(log), log]))
  return entries.flatMap(entry => {
    const place = { txHash: entry.tx_hash.toLowerCase(), logIndex: entry.log_index }
    const log = PART_OF[entry.kind] && logs.get(keyOf(place))
    if (!log) return []
    const named = `entry ${entry.sequence} names`
    const address =
      entry.kind === 'settled' && 'merchant' in log ? log.merchant : entry.kind === 'payment' && 'to' in log ? log.to : undefined
    const payer = entry.kind === 'payment' || entry.kind === 'unmatched' ? ('payer' in log ? log.payer : log.from) : undefined
    const [otherAddress, otherPayer] = [isOther(entry.address, address), isOther(entry.payer_address, payer)]
    return [
      ...(entry.block_number === log.blockNumber
        ? []
        : [difference('other_block', place, `${named} block ${entry.block_number}, on the node it is ${log.blockNumber}`)]),
      ...(otherAddress ? [difference('other_address', place, `${named} the address ${entry.address}, on the node it is ${address}`)] : []),
      ...(otherPayer ? [difference('other_payer', place, `${named} the payer ${entry.payer_address}, on the node it is ${payer}`)] : []),
    ]
  })
}

const isOther = (named: string | null, onChain: string | undefined): boolean =>
  named !== null && onChain !== undefined && named.toLowerCase() !== onChain

/**
 * Each share of a router has reached a payout address, by the last such transfer before the router's log; what else reached one came past the routers. A fee that
 * a payout address receives stands right before the share; what goes back to where it came from is none.
 */
function receivedOf({ paid, received }: ChainFacts) {
  const left = new Map(received.filter(({ amount }) => amount > 0n).map(one => [keyOf(one), one]))
  const differences = paid
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
    .flatMap(log => {
      const before = [...left.values()].filter(one => one.txHash === log.txHash && one.logIndex < log.logIndex)
      const share = before
        .filter(one => one.to === log.merchant && one.amount === log.share)
        .toSorted((a, b) => a.logIndex - b.logIndex)
        .at(-1)
      const fee = before.find(one => one.logIndex === (share?.logIndex ?? log.logIndex - 1) - 1 && one.amount === log.fee)
      for (const one of [share, fee]) if (one) left.delete(keyOf(one))
      if (share || log.share === 0n) return []
      const detail = `the router reports ${usdcOf(log.share)} USDC to ${log.merchant}, and no transfer brought them there`
      return [difference('not_received', log, detail)]
    })
  return { differences, plain: [...left.values()].filter(({ from, to }) => from !== to) }
}

/** The token writes the transfer of a refund right behind the use of its signature, which the ledger names. */
function returnsOf({ sent }: ChainFacts, entries: readonly AuditEntry[]): AuditDifference[] {
  const transfers = new Map(sent.map(one => [keyOf(one), one]))
  const returned = netOf(entries, 'returned')
  return returned.flatMap(one => {
    const transfer = transfers.get(keyOf({ txHash: one.txHash, logIndex: one.logIndex + 1 }))
    const what = `a return of ${usdcOf(one.amount)} USDC to ${one.address}`
    if (!transfer || transfer.to !== one.address)
      return [difference('not_on_chain', one, `the ledger has ${what}, the node none from your payout address`)]
    if (transfer.amount === one.amount) return []
    return [difference('other_amount', one, `the ledger has ${what}, on the node it is ${usdcOf(transfer.amount)} USDC`)]
  })
}

/** A plain transfer to a payout address has its entry, to the unit, from the same payer to the same address. */
function directOf(
  plain: readonly TransferLog[],
  entries: readonly AuditEntry[],
  { chainId, directFrom }: AuditTerms,
  ended: readonly Uncounted[],
) {
  const transfers = new Map(plain.map(one => [keyOf(one), one]))
  const booked = netOf(entries, 'direct')
  const known = new Set(booked.map(keyOf))
  const unknown = plain.filter(one => !known.has(keyOf(one)))
  const earlier = unknown.filter(({ blockNumber }) => blockNumber < directFrom)
  const endOf = ({ to }: TransferLog) => ended.find(({ chain_id, address }) => chain_id === chainId && address.toLowerCase() === to)
  const later = unknown.filter(one => one.blockNumber >= Math.max(directFrom, endOf(one)?.from_block ?? Number.POSITIVE_INFINITY))
  const left = new Set([...earlier, ...later])
  const due = plain.filter(one => !left.has(one))
  const wrong = booked.flatMap(one => {
    const transfer = transfers.get(keyOf(one))
    if (transfer?.amount !== one.amount)
      return [difference('not_on_chain', one, `the ledger has a direct transfer of ${usdcOf(one.amount)} USDC, the node has none like it`)]
    const entry = entries.findLast(
      each => each.kind === 'direct' && keyOf({ txHash: each.tx_hash.toLowerCase(), logIndex: each.log_index }) === keyOf(one),
    )
    const named = `entry ${entry?.sequence} names`
    return [
      ...(entry && entry.block_number !== transfer.blockNumber
        ? [difference('other_block', one, `${named} block ${entry.block_number}, on the node it is ${transfer.blockNumber}`)]
        : []),
      ...(isOther(entry?.address ?? null, transfer.to)
        ? [difference('other_address', one, `${named} the address ${entry?.address}, on the node it is ${transfer.to}`)]
        : []),
      ...(isOther(entry?.payer_address ?? null, transfer.from)
        ? [difference('other_payer', one, `${named} the payer ${entry?.payer_address}, on the node it is ${transfer.from}`)]
        : []),
    ]
  })
  const missing = due
    .filter(one => !known.has(keyOf(one)))
    .map(one =>
      difference(
        'missing_in_ledger',
        one,
        `the node has a transfer of ${usdcOf(one.amount)} USDC from ${one.from} to ${one.to} past the routers in block ${one.blockNumber}, the ledger nothing`,
      ),
    )
  const uncounted = ended.flatMap(({ address, from_block }) => {
    const own = later.filter(one => endOf(one)?.address === address)
    return own.length === 0
      ? []
      : [{ address, from_block, transfers: own.length, amount: own.reduce((sum, { amount }) => sum + amount, 0n) }]
  })
  return { differences: [...wrong, ...missing], earlier, uncounted, due, booked }
}

const toSums = ({ amount }: { amount: bigint }): Sums => ({ came: amount, fee: 0n, settled: amount })

function netOf(entries: readonly AuditEntry[], wanted: Entry['kind']) {
  const net = new Map<string, { txHash: string; logIndex: number; amount: bigint; address: string }>()
  for (const { kind, amount, tx_hash, log_index, address } of entries) {
    if (kind !== wanted) continue
    const place = { txHash: tx_hash.toLowerCase(), logIndex: log_index }
    const before = net.get(keyOf(place))
    net.set(keyOf(place), { ...place, amount: (before?.amount ?? 0n) + unitsOf(amount), address: (address ?? '').toLowerCase() })
  }
  return [...net.values()].filter(({ amount }) => amount !== 0n)
}

/** An order by which a payer's money would go elsewhere. */
function addressesOf({ id, memo, payment }: AuditOrder, { chainId, routers, payouts, token }: AuditTerms): AuditDifference[] {
  const place = [payment, ...(payment.networks ?? [])].find(({ chain_id }) => chain_id === chainId)
  if (!place) return []
  const { router_address, merchant_address = payment.merchant_address } = place
  const [router, payoutAddress] = [router_address.toLowerCase(), merchant_address.toLowerCase()]
  const other = (detail: string) => [
    { kind: 'other_address' as const, tx_hash: null, log_index: null, detail: `order ${id} names ${detail}` },
  ]
  if (!payouts.includes(payoutAddress)) return other(`the payout address ${payoutAddress}, which is none of yours`)
  if (!routers.includes(router)) return other(`the router ${router}, which is none of yours`)
  if (place.token_address.toLowerCase() !== token) return other(`the token ${place.token_address}`)
  const deposit = depositAddress({ router, memo, payoutAddress })
  if (place.deposit_address === null || place.deposit_address.toLowerCase() === deposit) return []
  return other(`the deposit address ${place.deposit_address}, and it is ${deposit}`)
}

/** The ledger counts without gaps. */
const gapsIn = (entries: readonly AuditEntry[]): AuditDifference[] =>
  entries.flatMap(({ sequence }, index) => {
    const before = entries[index - 1]?.sequence ?? 0
    if (sequence === before + 1) return []
    return [
      {
        kind: 'gap' as const,
        tx_hash: null,
        log_index: null,
        detail: `entry ${sequence} follows entry ${before}: the ledger counts without gaps`,
      },
    ]
  })

const difference = (
  kind: AuditDifference['kind'],
  { txHash, logIndex }: { txHash: string; logIndex: number },
  detail: string,
): AuditDifference => ({
  kind,
  tx_hash: txHash,
  log_index: logIndex,
  detail,
})

const describe = (one: Sums): string =>
  PARTS.filter(part => one[part] !== 0n)
    .map(part => `${NAMES[part]} ${usdcOf(one[part])} USDC`)
    .join(', ')

const sumOf = (movements: readonly Sums[]): Sums =>
  movements.reduce<Sums>((sum, one) => ({ came: sum.came + one.came, fee: sum.fee + one.fee, settled: sum.settled + one.settled }), {
    came: 0n,
    fee: 0n,
    settled: 0n,
  })
