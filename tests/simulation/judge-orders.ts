import { type Expected, judge } from './oracle'
import type { ChainFacts } from './rpc'

/** A chain as it is now, and how much of it is confirmed. */
export interface ReadChain {
  chainId: number
  chain: ChainFacts
  confirmed: { block: number; time: number }
}

/** Where an order's payments go on a chain: to its merchant, or to the address that a transfer is swept from; lower-case. */
export interface Place {
  merchantAddress: string
  depositAddress: string | null
}

/** One order as the API answers it, and what the oracle needs to know of it. Amounts are base units, addresses lower-case. */
export interface SeenOrder {
  id: string
  memo: string
  /** Where it is paid, on each chain. */
  places: ReadonlyMap<number, Place>
  usdcUnits: bigint
  /** As it was asked for, or a cent. */
  toleranceUnits: bigint
  /** As the order shows it. */
  tolerance: string | undefined
  expiresAt: number
  cancelled: boolean
  /** The transaction with which an acceptance was answered. */
  accepted: string | null
  /** Transactions whose payments the merchant counted for it; they carry another memo. */
  attached: readonly string[]
  /** As the order shows it; null where it was not accepted. */
  givenAway: string | null
  status: string
  exception: string | null
  txHash: string | null
  received: string
  expected: string
  payments: readonly {
    /** Of an order that may be paid on several. */
    chain_id?: number
    kind: string
    tx_hash: string
    amount: string
    payer_address: string | null
    status: string
    settlement: { status: string; tx_hash: string | null }
  }[]
}

export interface Heard {
  type: string
  txHash: string | null
  received: string | null
}

const decimal = (units: bigint) => `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`

/** By the chains that it may be paid on, the first one first. */
export function expectedOf(order: SeenOrder, chains: readonly ReadChain[], feeBps: bigint): Expected {
  const [first, ...others] = chains.map(({ chainId, confirmed }) => ({
    ...{ chainId, confirmedBlock: confirmed.block, confirmedTime: confirmed.time },
  }))
  if (!first) throw new Error('An order can be paid on a chain at least.')
  const placed = <T>(chainId: number, logs: readonly T[]) => logs.map(log => (others.length > 0 ? { ...log, chainId } : log))
  const placeOn = (chainId: number) => order.places.get(chainId)
  const depositAddress = placeOn(first.chainId)?.depositAddress ?? null
  // The oracle knows the sweeps of an order by one address, and on a network with a payout address of its own they come from another one.
  const sender = (chainId: number, payer: string) => (payer === placeOn(chainId)?.depositAddress ? (depositAddress ?? payer) : payer)
  return judge(
    {
      usdcUnits: order.usdcUnits,
      toleranceUnits: order.toleranceUnits,
      feeBps,
      expiresAt: order.expiresAt,
      depositAddress,
      cancelled: order.cancelled,
      accepted: order.accepted,
    },
    {
      transfers: chains.flatMap(({ chainId, chain }) =>
        placed(
          chainId,
          chain.transfers.filter(({ to, amount }) => to === placeOn(chainId)?.depositAddress && amount > 0n),
        ),
      ),
      routerPayments: chains.flatMap(({ chainId, chain }) =>
        placed(
          chainId,
          chain.received
            .filter(
              ({ memo, merchant, txHash }) =>
                (memo === order.memo || order.attached.includes(txHash)) && merchant === placeOn(chainId)?.merchantAddress,
            )
            .map(log => ({ ...log, payer: sender(chainId, log.payer) })),
        ),
      ),
      ...first,
      others,
    },
  )
}

const isNamed = (txHash: string | null, { txHash: must, paidBy }: Expected) =>
  txHash === must || (txHash !== null && paidBy.includes(txHash))

/** Where an order differs from what it must be; empty when it does not. */
export function differences(order: SeenOrder, expected: Expected, blocked: boolean): string[] {
  const found: string[] = []
  const differ = (what: string, is: unknown, must: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(must)) found.push(`${what} is ${JSON.stringify(is)} and must be ${JSON.stringify(must)}`)
  }
  if (!expected.statuses.includes(order.status)) found.push(`status is ${order.status} and must be ${expected.statuses.join(' or ')}`)
  // While it is not known yet which of two states it is, its exception is not either.
  if (expected.statuses.length === 1) differ('exception', order.exception, expected.exception)
  differ('received', order.received, decimal(expected.received))
  differ('expected', order.expected, decimal(expected.expected))
  differ('payment_tolerance', order.tolerance, decimal(order.toleranceUnits))
  if (!isNamed(order.txHash, expected)) {
    const came = expected.payments.map(({ chainId, txHash, amount, status }) => `${txHash} (${chainId}, ${decimal(amount)}, ${status})`)
    differ(`tx_hash of one that is ${order.status} and was sent ${came.join(', ')}`, order.txHash, expected.txHash)
  }
  differ('given_away', order.givenAway, expected.givenAway === null ? null : decimal(expected.givenAway))
  const line = (one: {
    chainId: number | undefined
    kind: string
    tx: string
    amount: string
    payer: string | null
    status: string
    settlement: string
    by: string | null
  }) => [one.chainId ?? 'chain', one.kind, one.tx, one.amount, one.payer, one.status, one.settlement, one.by].join(' ')
  const isOfSeveral = expected.payments.some(({ chainId }) => chainId !== undefined)
  const live = order.payments
    .filter(({ status }) => status !== 'orphaned')
    .map(one =>
      line({
        ...{ kind: one.kind, tx: one.tx_hash, amount: one.amount, status: one.status },
        chainId: isOfSeveral ? one.chain_id : undefined,
        payer: one.payer_address?.toLowerCase() ?? null,
        settlement: blocked && one.settlement.status === 'blocked' ? 'pending' : one.settlement.status,
        by: one.settlement.tx_hash,
      }),
    )
  const must = expected.payments.map(one =>
    line({
      ...{ chainId: one.chainId, kind: one.kind, tx: one.txHash, amount: decimal(one.amount), payer: one.payer, status: one.status },
      ...{ settlement: one.settlement, by: one.settledBy },
    }),
  )
  differ('payments', live.toSorted(), must.toSorted())
  return found
}

/** Where what the merchant received differs from what must have been sent, once the chain has passed the order. */
export function hearingDifferences(order: SeenOrder, received: readonly Heard[], expected: Expected): string[] {
  const found: string[] = []
  const count = (type: string) => received.filter(one => one.type === type).length
  for (const type of expected.mustHear) if (count(type) !== 1) found.push(`${type} was sent ${count(type)} times and must be sent once`)
  // Money that came in time and was counted after the end pays an order that expired before.
  const mustNotHear = expected.mustNotHear.filter(type => type !== 'order.expired' || order.attached.length === 0)
  for (const type of mustNotHear) if (count(type) > 0) found.push(`${type} was sent and must not be`)
  for (const one of received.filter(({ type }) => type === 'order.paid'))
    if (!isNamed(one.txHash, expected)) found.push(`order.paid names ${one.txHash} and must name ${expected.txHash}`)
  const short = received.flatMap(({ type, received }) => (type === 'order.underpaid' && received !== null ? [received] : []))
  if (new Set(short).size < short.length) found.push(`order.underpaid repeats an amount: ${short.join(', ')}`)
  for (const amount of short)
    if (!expected.shortAmounts.map(decimal).includes(amount)) found.push(`order.underpaid states ${amount}, which was never the sum`)
  if (order.status === 'confirming') found.push('the chain has passed the order and it is still confirming')
  return found
}
