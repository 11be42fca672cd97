import type { ChainFacts } from './rpc'

/**
 * The rules of returned money, from the token's logs and what the merchant was answered: it imports nothing of what it judges. Amounts are base units, times
 * Unix seconds, hashes and addresses lower-case.
 */
export interface Asked {
  id: string
  nonce: string
  from: string
  payee: string
  units: bigint
  /** When each signature that was taken ends. */
  taken: readonly number[]
  /** The wallet also signed it without bringing that. */
  isSignedElsewhere: boolean
  /** Its cancellation was answered with 200. */
  isCancelled: boolean
}

type Chain = Pick<ChainFacts, 'transfers' | 'ends'>
export interface Confirmed {
  block: number
  time: number
}

export interface ExpectedReturn {
  /** Two where what was signed elsewhere moved the money, for which is looked every ten minutes. */
  statuses: readonly string[]
  txHash: string | null
  validBefore: number | null
  /** Number of `refund.failed` that there must be, at least and at most. */
  failed: readonly [number, number]
}

const endOf = ({ nonce, from }: Asked, { ends }: Chain, through: number) =>
  ends.find(one => one.nonce === nonce && one.authorizer === from && one.block <= through)

/** The token writes the transfer right behind the use of its nonce. */
const isBehind = (use: Chain['ends'][number], transfer: Chain['transfers'][number]) =>
  use.kind === 'used' && transfer.txHash === use.txHash && transfer.logIndex === use.logIndex + 1

/** The transfer by which the money went back; undefined while it has not. */
export function returned(asked: Asked, chain: Chain, through: number) {
  const end = endOf(asked, chain, through)
  const transfer = end && chain.transfers.find(one => isBehind(end, one))
  return transfer?.from === asked.from && transfer.to === asked.payee && transfer.amount === asked.units ? transfer : undefined
}

/** The ends of what was signed and brought, and may still move the money. */
const livingOf = (asked: Asked, chain: Chain, { block, time }: Confirmed): number[] =>
  endOf(asked, chain, block) ? [] : asked.taken.filter(validBefore => validBefore > time)

export const mayMove = (asked: Asked, chain: Chain, confirmed: Confirmed): boolean => livingOf(asked, chain, confirmed).length > 0

function balanceOf(holder: string, { transfers }: Chain, through: number): bigint {
  const part = ({ block, from, to, amount }: Chain['transfers'][number]) =>
    block > through ? 0n : (to === holder ? amount : 0n) - (from === holder ? amount : 0n)
  return transfers.reduce((sum, one) => sum + part(one), 0n)
}

export function expectedReturn(asked: Asked, chain: Chain, confirmed: Confirmed, isFinal: boolean): ExpectedReturn {
  const moved = returned(asked, chain, confirmed.block)
  const living = livingOf(asked, chain, confirmed)
  const signed = balanceOf(asked.from, chain, confirmed.block) < asked.units ? 'awaiting_funds' : 'submitted'
  const unmoved = asked.isCancelled ? 'cancelled' : living.length > 0 ? signed : 'awaiting_signature'
  const isUnseen = moved && asked.isSignedElsewhere && !isFinal && asked.taken.every(validBefore => validBefore <= confirmed.time)
  const ended = asked.taken.length - living.length
  return {
    statuses: moved ? ['confirmed', ...(isUnseen ? [unmoved] : [])] : [unmoved],
    txHash: moved?.txHash ?? null,
    validBefore: living.length > 0 ? Math.max(...living) : null,
    // The last may have ended before something that was signed elsewhere moved the money.
    failed: moved ? [Math.max(ended - 1, 0), asked.isSignedElsewhere ? ended : Math.max(ended - 1, 0)] : [ended, ended],
  }
}

export interface SeenReturn {
  status: string
  txHash: string | null
  validBefore: number | null
}

/** Where a return differs from what it must be; empty when it does not. */
export function returnDifferences(seen: SeenReturn, { statuses, txHash, validBefore }: ExpectedReturn): string[] {
  const found: string[] = []
  if (!statuses.includes(seen.status)) found.push(`status is ${seen.status} and must be ${statuses.join(' or ')}`)
  const hash = seen.status === 'confirmed' ? txHash : null
  if (seen.txHash !== hash) found.push(`tx_hash is ${seen.txHash} and must be ${hash}`)
  if (seen.validBefore !== validBefore) found.push(`valid_before is ${seen.validBefore} and must be ${validBefore}`)
  return found
}

/** The merchant is informed of each return once, and of each signature that moves nothing any more. */
export function noticeDifferences(types: readonly string[], { txHash, failed }: ExpectedReturn): string[] {
  const count = (type: string) => types.filter(one => one === type).length
  const found: string[] = []
  if (count('refund.created') !== 1) found.push(`refund.created came ${count('refund.created')} times`)
  if (count('refund.confirmed') !== (txHash === null ? 0 : 1)) found.push(`refund.confirmed came ${count('refund.confirmed')} times`)
  const [least, most] = failed
  if (count('refund.failed') < least || count('refund.failed') > most)
    found.push(`refund.failed came ${count('refund.failed')} times and must come ${least} to ${most} times`)
  return found
}

/** Money that left a wallet: each transfer is that of one return, whole, and no return has two. What the merchant spends goes to `own`. */
export function walletDifferences(all: readonly Asked[], chain: Chain, wallet: string, own: string): string[] {
  const found: string[] = []
  const paid = new Set<string>()
  for (const transfer of chain.transfers) {
    if (transfer.from !== wallet || transfer.to === own) continue
    const use = chain.ends.find(one => isBehind(one, transfer))
    const asked = all.find(({ nonce, from }) => nonce === use?.nonce && from === wallet)
    const about = `${transfer.amount} from ${wallet} to ${transfer.to}`
    if (!asked) found.push(`${about} is no return`)
    else if (asked.payee !== transfer.to || asked.units !== transfer.amount)
      found.push(`${about} is the return ${asked.id} of ${asked.units} to ${asked.payee}`)
    else if (paid.has(asked.id)) found.push(`${about} is the second of the return ${asked.id}`)
    if (asked) paid.add(asked.id)
  }
  return found
}

export interface ReturnedOrder {
  /** All that is confirmed for it. */
  came: bigint
  /** The part of it that the order does not take. */
  leftOver: bigint
  isClosed: boolean
}
export interface SeenReturns {
  came: bigint
  promised: bigint
  returnable: bigint
  surplus: bigint
}

/** No order returns more than came for it. What was signed elsewhere and moved after the cancellation counts when it has moved. */
export function orderDifferences<T extends Asked>(
  seen: SeenReturns,
  all: readonly T[],
  { came, leftOver, isClosed }: ReturnedOrder,
  isMoved: (asked: T) => boolean,
): string[] {
  const found: string[] = []
  const sum = (some: readonly T[]) => some.reduce((total, { units }) => total + units, 0n)
  const standing = all.filter(({ isCancelled }) => !isCancelled)
  if (sum(standing) > came) found.push(`${sum(standing)} go back, and ${came} came`)
  const promised = sum(all.filter(asked => !asked.isCancelled || isMoved(asked)))
  const may = (most: bigint) => (!isClosed || promised > most ? 0n : most - promised)
  const must = { came, promised, returnable: may(came), surplus: may(leftOver) }
  for (const [what, is] of Object.entries(seen) as [keyof SeenReturns, bigint][])
    if (is !== must[what]) found.push(`${what} is ${is} and must be ${must[what]}`)
  return found
}
