import { createHash } from 'node:crypto'
import { groupBy, type Row, text, units } from './rows'

const ZERO_HASH = `0x${'0'.repeat(64)}`

/** Each checkpoint by the rows that are marked with it, and by the one before it. */
export function checkpointDifferences(checkpoints: readonly Row[], payments: readonly Row[]): string[] {
  const routed = payments.filter(({ kind, fee }) => kind !== 'transfer' && fee !== null)
  const standing = routed.filter(({ state, checkpoint_gone }) => state === 'confirmed' || checkpoint_gone !== null)
  const held = groupBy(standing, ({ chain_id, checkpoint }) => `${chain_id} ${checkpoint}`)
  const gone = groupBy(
    routed.filter(({ state, checkpoint }) => state === 'orphaned' && checkpoint !== null),
    ({ chain_id, checkpoint_gone }) => `${chain_id} ${checkpoint_gone}`,
  )
  const known = new Set(checkpoints.map(({ chain_id, to_block }) => `${chain_id} ${to_block}`))
  const unknown = payments
    .flatMap(({ chain_id, checkpoint, checkpoint_gone }) =>
      [checkpoint, checkpoint_gone].flatMap(mark => (mark === null ? [] : [`${chain_id} ${mark}`])),
    )
    .filter(mark => !known.has(mark))
  const idle = payments.filter(({ checkpoint, checkpoint_gone, state, kind }) => {
    if (checkpoint_gone !== null) return checkpoint === null || state !== 'orphaned'
    return checkpoint !== null && (state !== 'confirmed' || kind === 'transfer')
  })
  return [
    ...checkpoints.flatMap((one, index) => {
      const before = checkpoints[index - 1]
      const previous = before?.chain_id === one.chain_id ? before : undefined
      const key = `${one.chain_id} ${one.to_block}`
      const own = held.get(key) ?? []
      const isLate = ({ block_number }: Row) => Number(block_number) < Number(one.from_block)
      const inBlocks = own.filter(row => !isLate(row))
      const lines = [...linesOf('payment', inBlocks), ...linesOf('late', own.filter(isLate)), ...linesOf('gone', gone.get(key) ?? [])]
      const about = `checkpoint ${one.to_block}`
      return [
        ...(one.hash === hashOf(one, lines) ? [] : [`${about}: its hash is ${one.hash}, and by the payments ${hashOf(one, lines)}`]),
        ...(Number(one.payments) === inBlocks.length
          ? []
          : [`${about}: it counts ${one.payments} payments, and ${inBlocks.length} are booked`]),
        ...(one.previous_hash === (previous?.hash ?? ZERO_HASH) ? [] : [`${about}: it does not name the one before it`]),
        ...(!previous || Number(previous.to_block) + 1 === Number(one.from_block)
          ? []
          : [`${about}: it begins at block ${one.from_block}`]),
      ]
    }),
    ...unknown.map(mark => `checkpoint: a payment is booked for ${mark}, which is not there`),
    ...idle.map(({ tx_hash, log_index }) => `checkpoint: log ${log_index} of ${tx_hash} is marked, and cannot be in one`),
  ]
}

const linesOf = (word: string, rows: readonly Row[]): string[] =>
  rows
    .toSorted(
      (a, b) =>
        Number(a.block_number) - Number(b.block_number) ||
        (String(a.block_hash) < String(b.block_hash) ? -1 : String(a.block_hash) > String(b.block_hash) ? 1 : 0) ||
        Number(a.log_index) - Number(b.log_index),
    )
    .map(row =>
      [
        ...[word, row.block_number, row.block_hash, row.tx_hash, row.log_index, row.router, row.memo, row.merchant, row.payer],
        ...[units(row.amount) - units(row.fee), units(row.fee)],
      ].join(' '),
    )

function hashOf(one: Row, lines: readonly string[]): string {
  const routers = Array.isArray(one.routers) ? one.routers.join(',') : text(one.routers)
  const head = [
    'ponte.checkpoint.1',
    one.previous_hash,
    one.chain_id,
    one.token,
    routers,
    `${one.from_block} ${one.to_block} ${one.block_hash}`,
  ]
  return `0x${createHash('sha256')
    .update([...head, ...lines].map(line => `${line}\n`).join(''))
    .digest('hex')}`
}
