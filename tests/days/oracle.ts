import type { Asked, Block, Step, Transaction } from './facts'

/**
 * Entries that the books must have, from the token's `Transfer` logs, the memos of transactions and what merchants were answered (docs/money.md, "The ledger"). It imports
 * nothing of what it judges.
 */
export interface Movement {
  merchant: string
  kind: string
  units: bigint
  /** At the order's quote; null without an order. */
  centavos: bigint | null
  /** When it counts. */
  at: number
  txHash: string
  /** The payout address that it reached or left; null of what does neither. */
  payout: string | null
  /** Whether it takes another back. */
  isReversal: boolean
}

interface Due extends Omit<Movement, 'at' | 'isReversal'> {
  time: number
  key: string
}

interface Owned {
  merchant: string
  version: number
  address: string
  since: number
}

const SAO_PAULO_MS = -3 * 3_600_000

/** The first instant of a month there. Since 2019 its clock is three hours behind UTC all year. */
export function monthStart(time: number): number {
  const local = new Date(time + SAO_PAULO_MS)
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth()) - SAO_PAULO_MS
}

/** A payment through a router: its fee and then the share, by the same sender. */
function isSplit({ transfers }: Transaction, index: number, platform: string): boolean {
  const [fee, share] = [transfers[index], transfers[index + 1]]
  return fee !== undefined && share !== undefined && fee.to === platform && fee.from === share.from
}

/** The ledgers of all merchants, each movement in the order of its booking. */
export function ledgersOf(steps: readonly Step[], platform: string): Movement[] {
  const ledger: Movement[] = []
  const blocks = new Map<string, Block>()
  const orders = new Map<string, Asked>()
  const deposits = new Map<string, Asked>()
  const memos = new Map<string, Asked>()
  const accepted = new Set<string>()
  const attached = new Map<string, string>()
  const promised = new Map<string, string>()
  const standing = new Map<string, Map<string, Due>>()
  let payouts: Owned[] = []
  let closedThrough = Number.NEGATIVE_INFINITY

  const ownersAt = (address: string, time: number): string[] => {
    const owns = ({ merchant, version, address: theirs, since }: Owned) => {
      const next = payouts.filter(each => each.merchant === merchant && each.version > version).sort((a, b) => a.version - b.version)[0]
      // Blocks have whole seconds.
      return theirs === address && since - (since % 1_000) <= time && time < (next?.since ?? Number.POSITIVE_INFINITY)
    }
    return [...new Set(payouts.filter(owns).map(({ merchant }) => merchant))]
  }
  const centavos = (units: bigint, order: Asked | undefined) => (order ? (units * order.rate + 5_000_000_000n) / 10_000_000_000n : null)

  /** The order that this part of the block is for. */
  const orderOf = (block: Block, index: number): Asked | undefined => {
    const { transfers, memo } = block.transaction
    const transfer = transfers[index]
    if (!transfer) return undefined
    const byHand = orders.get(attached.get(block.hash) ?? '')
    if (!isSplit(block.transaction, index, platform)) return deposits.get(transfer.to)
    const payout = transfers[index + 1]?.to
    const named = deposits.get(transfer.from) ?? memos.get(memo ?? '')
    return byHand ?? (named?.payout === payout ? named : undefined)
  }

  const dueOf = (block: Block): Due[] => {
    const { transaction, time, number } = block
    const due: Due[] = []
    const add = (
      index: number,
      order: Asked | undefined,
      merchant: string,
      kind: string,
      units: bigint,
      payout: string | null,
      brl = centavos(units, order),
    ) => {
      const key = [merchant, kind, units, order?.id, number, time, index].join(' ')
      if (units > 0n) due.push({ merchant, kind, units, centavos: brl, time, txHash: transaction.hash, payout, key })
    }
    for (let index = 0; index < transaction.transfers.length; index++) {
      const transfer = transaction.transfers[index]
      if (!transfer) continue
      const order = orderOf(block, index)
      if (isSplit(transaction, index, platform)) {
        const share = transaction.transfers[index + 1] ?? transfer
        const gross = transfer.units + share.units
        for (const merchant of order ? [order.merchant] : ownersAt(share.to, time)) {
          if (!deposits.has(transfer.from)) add(index, order, merchant, order ? 'payment' : 'unmatched', gross, null)
          const [all, fee] = [centavos(gross, order), centavos(transfer.units, order)]
          add(index, order, merchant, 'fee', transfer.units, null)
          add(index, order, merchant, 'settled', share.units, share.to, all === null || fee === null ? null : all - fee)
        }
        index++
        continue
      }
      if (order) add(index, order, order.merchant, 'payment', transfer.units, null)
      const returned = orders.get(promised.get(transaction.nonce ?? '') ?? '')
      if (returned) add(index, returned, returned.merchant, 'returned', transfer.units, transfer.from)
      if (!order && transfer.from !== transfer.to)
        for (const merchant of ownersAt(transfer.to, time)) add(index, undefined, merchant, 'direct', transfer.units, transfer.to)
    }
    return due
  }

  /** The rest that an accepted order does not ask for any more, beside the last of its payments. */
  const givenAway = (order: Asked): Due[] => {
    const payments = [...blocks.values()]
      .sort((a, b) => a.number - b.number)
      .flatMap(block =>
        block.transaction.transfers.flatMap((transfer, index) => {
          if (orderOf(block, index)?.id !== order.id || deposits.has(transfer.from)) return []
          const share = isSplit(block.transaction, index, platform) ? (block.transaction.transfers[index + 1]?.units ?? 0n) : 0n
          return [{ block, units: transfer.units + share }]
        }),
      )
    const last = payments.at(-1)?.block
    const units = order.units - payments.reduce((sum, one) => sum + one.units, 0n)
    if (!last || units <= 0n) return []
    const key = ['accepted', order.id, units, last.hash].join(' ')
    return [
      {
        merchant: order.merchant,
        kind: 'accepted',
        units,
        centavos: centavos(units, order),
        time: last.time,
        txHash: last.transaction.hash,
        payout: null,
        key,
      },
    ]
  }

  const book = (name: string, due: readonly Due[], now: number) => {
    const before = standing.get(name) ?? new Map<string, Due>()
    const after = new Map(due.map(each => [each.key, each]))
    const write = ({ time, key, ...movement }: Due, isReversal: boolean) => {
      const sign = isReversal ? -1n : 1n
      const { units, centavos: brl } = movement
      ledger.push({
        ...movement,
        units: sign * units,
        centavos: brl === null ? null : sign * brl,
        at: time < closedThrough ? now : time,
        isReversal,
      })
    }
    for (const [key, each] of before) if (!after.has(key)) write(each, true)
    for (const [key, each] of after) if (!before.has(key)) write(each, false)
    standing.set(name, after)
  }
  const bookBlock = (block: Block, now: number) => book(block.transaction.hash, blocks.has(block.transaction.hash) ? dueOf(block) : [], now)

  for (const step of steps) {
    if (step.kind === 'asked') {
      orders.set(step.order.id, step.order)
      memos.set(step.order.memo, step.order)
      if (step.order.deposit !== null) deposits.set(step.order.deposit, step.order)
    }
    if (step.kind === 'advanced') closedThrough = Math.max(closedThrough, monthStart(step.time))
    if (step.kind === 'payout') payouts = [...payouts, step]
    if (step.kind === 'accepted') accepted.add(step.orderId)
    if (step.kind === 'attached') attached.set(step.blockHash, step.orderId)
    if (step.kind === 'promised') promised.set(step.nonce, step.orderId)
    if (step.kind === 'gone') blocks.delete(step.block.transaction.hash)
    if (step.kind === 'confirmed') blocks.set(step.block.transaction.hash, step.block)
    if (step.kind === 'gone' || step.kind === 'confirmed') bookBlock(step.block, step.at)
    if (step.kind === 'payout' || step.kind === 'attached') for (const block of blocks.values()) bookBlock(block, step.at)
    const isMoved = step.kind === 'gone' || step.kind === 'confirmed'
    const concerned = isMoved ? step.block.transaction.transfers.map((_, index) => orderOf(step.block, index)?.id) : []
    for (const id of accepted) {
      const order = orders.get(id)
      const isConcerned = (step.kind === 'accepted' && step.orderId === id) || step.kind === 'attached' || concerned.includes(id)
      if (order && isConcerned) book(`accepted ${id}`, givenAway(order), step.at)
    }
  }
  return ledger
}

/** The day by the clocks of a zone. */
export function civilDay(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return at => format.format(new Date(at))
}

export interface Figures {
  payments: number
  brl_amount: bigint
  gross: bigint
  platform_fee: bigint
  settled: bigint
  waiting: bigint
  unmatched: bigint
  returned: bigint
  given_away: bigint
}

export function figuresOf(movements: readonly Movement[]): Figures {
  const sum = (...kinds: string[]) => movements.reduce((total, { kind, units }) => (kinds.includes(kind) ? total + units : total), 0n)
  const payments = movements.filter(({ kind }) => kind === 'payment')
  const [gross, fee, settled] = [sum('payment', 'unmatched', 'direct'), sum('fee'), sum('settled', 'direct')]
  return {
    payments: payments.reduce((count, { isReversal }) => count + (isReversal ? -1 : 1), 0),
    brl_amount: payments.reduce((total, { centavos }) => total + (centavos ?? 0n), 0n),
    ...{ gross, platform_fee: fee, settled, waiting: gross - fee - settled },
    ...{ unmatched: sum('unmatched'), returned: sum('returned'), given_away: sum('accepted') },
  }
}

/** Differences of both, name by name; empty where they do not. */
export function differences(what: string, seen: ReadonlyMap<string, string>, must: ReadonlyMap<string, string>): string[] {
  return [...new Set([...must.keys(), ...seen.keys()])]
    .sort()
    .filter(name => seen.get(name) !== must.get(name))
    .map(name => `${what}, ${name}: ${seen.get(name)} and must be ${must.get(name)}`)
}

export const text = (figures: Figures): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

/** Units by some name, without those that come to nothing. */
export function sums<T extends { units: bigint }>(rows: readonly T[], nameOf: (row: T) => string): Map<string, string> {
  const found = new Map<string, bigint>()
  for (const row of rows) found.set(nameOf(row), (found.get(nameOf(row)) ?? 0n) + row.units)
  return new Map([...found].filter(([, units]) => units !== 0n).map(([name, units]) => [name, String(units)]))
}
