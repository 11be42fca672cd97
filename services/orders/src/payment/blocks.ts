import { isNewer, type Payment, type Stated } from './payment'

/** One step of the listener's scan, with payments of any order. */
export interface Blocks extends Stated {
  generation: string
  /** All that is watched in these blocks is confirmed, and reported with them. */
  advanced: { from: bigint; to: bigint } | null
  /** Hashes of blocks that are no part of the chain any more. */
  gone: ReadonlySet<string>
  /** When a block was last reported as gone, whichever event came first. */
  goneAt(blockHash: string): Stated | undefined
  /** True when a confirmed range of this generation holds the block: what it did not name is not there. */
  isConfirmed(blockNumber: bigint): boolean
}

/** One order's address in this generation. */
export interface Coverage {
  /** It is watched: a confirmed range holds all its transfers. */
  isWatched: boolean
  /** All its payments up to this block are reported with these blocks; null when that is not reported. */
  through: bigint | null
}

/**
 * The payments that a report changes, each as it is from now on. A confirmed range is authoritative: what it does not name is orphaned. Nothing that was
 * confirmed is undone by an absence, and only a block that is gone undoes it. Whatever comes late or twice finds the newer statement and changes nothing.
 */
export function changesOf(known: readonly Payment[], reported: readonly Payment[], blocks: Blocks, coverage: Coverage): Payment[] {
  const before = new Map(known.map(payment => [payment.id, payment]))
  const stated = { generation: blocks.generation, version: blocks.version }
  const accepted = reported.flatMap(payment => accept(payment, before.get(payment.id), blocks) ?? [])
  const named = new Set(reported.map(({ id }) => id))
  const taken = known.filter(payment => !named.has(payment.id) && isTaken(payment, blocks, coverage))
  return [
    ...accepted,
    ...taken.map((payment): Payment => ({ ...payment, ...(isNewer(stated, payment) ? stated : {}), status: 'orphaned' })),
  ]
}

function accept(payment: Payment, known: Payment | undefined, blocks: Blocks): Payment | null {
  const gone = payment.blockHash === null ? undefined : blocks.goneAt(payment.blockHash)
  // Kept as it ends, so that the order of arrival plays no part.
  if (gone && !isNewer(payment, gone)) return known ? null : { ...payment, ...gone, status: 'orphaned' }
  if (known && !isNewer(payment, known) && !isFirstConfirmation(payment, known)) return null
  if (payment.status === 'confirmed') return payment
  // Another generation had confirmed it: only a block that is gone takes it back.
  if (known?.status === 'confirmed') return { ...payment, status: 'confirmed' }
  if (!blocks.isConfirmed(payment.blockNumber)) return payment
  return known ? null : { ...payment, status: 'orphaned' }
}

/** Chunks of one step share its version, and a listener that was put back confirms under an older one what was seen of it before. */
const isFirstConfirmation = (payment: Payment, known: Payment): boolean =>
  payment.status === 'confirmed' && known.status === 'detected' && payment.generation === known.generation

function isTaken(payment: Payment, blocks: Blocks, { isWatched, through }: Coverage): boolean {
  const isNews = isNewer(blocks, payment)
  // Blocks confirmed before this answer came, late as it may be, were confirmed while the order was watched, and would have named it.
  if (payment.status === 'detected' && through !== null && blocks.isConfirmed(payment.blockNumber))
    return isNews || payment.generation === blocks.generation
  if (payment.status === 'orphaned' || !isNews) return false
  if (payment.blockHash !== null && blocks.gone.has(payment.blockHash)) return true
  if (payment.status === 'confirmed') return false
  const { advanced } = blocks
  const isPassed = advanced !== null && advanced.from <= payment.blockNumber && payment.blockNumber <= advanced.to
  if (isPassed && (payment.kind === 'router' || isWatched)) return true
  return through !== null && payment.blockNumber <= through
}
