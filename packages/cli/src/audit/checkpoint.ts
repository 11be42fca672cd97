import { createHash } from 'node:crypto'
import type { Checkpoint } from '@ponte/sdk'
import { unitsOf } from './amount'
import type { RouterLog } from './logs'

type Part = 'payment' | 'late' | 'gone'

/** A log as a checkpoint has it: a line of docs/chain.md. */
export const checkpointLine = (part: Part, log: RouterLog): string =>
  [
    ...[part, log.blockNumber, log.blockHash, log.txHash, log.logIndex, log.router, log.memo, log.merchant, log.payer, log.share, log.fee],
  ].join(' ')

/** The hash of a checkpoint over the logs of its blocks, in the order of the chain, and those that it lists as late and gone. */
export function checkpointHash(checkpoint: Omit<Checkpoint, 'hash'>, payments: readonly RouterLog[]): string {
  const lines = [
    'ponte.checkpoint.1',
    checkpoint.previous_hash,
    String(checkpoint.chain_id),
    checkpoint.token_address.toLowerCase(),
    checkpoint.router_addresses.map(router => router.toLowerCase()).join(','),
    `${checkpoint.from_block} ${checkpoint.to_block} ${checkpoint.block_hash}`,
    ...payments.map(log => checkpointLine('payment', log)),
    ...checkpoint.late.map(log => checkpointLine('late', toLog(log))),
    ...checkpoint.gone.map(log => checkpointLine('gone', toLog(log))),
  ]
  const text = lines.map(line => `${line}\n`).join('')
  return `0x${createHash('sha256').update(text).digest('hex')}`
}

/** Facts of a node about the blocks that checkpoints cover. */
export interface ChainView {
  chainId: number
  token: string
  routers: readonly string[]
  /** Blocks above are not looked at. */
  to: number
  /** Every `PaymentReceived` of the routers that checkpoints name. */
  logs: readonly RouterLog[]
  /** Hashes of the last blocks of checkpoints, by number. */
  hashes: ReadonlyMap<number, string>
}

export const ZERO_HASH = `0x${'0'.repeat(64)}`

/** The first checkpoint that a node does not bear out, and why; null where all that the node can judge fit. */
export function firstMisfit(checkpoints: readonly Checkpoint[], view: ChainView): { to_block: number; detail: string } | null {
  const onChain = new Map(view.logs.map(log => [placeOf(log), log]))
  const late = new Set(checkpoints.flatMap(one => one.late.map(log => placeOf(toLog(log)))))
  const gone = checkpoints.flatMap(one => one.gone.map(toLog))
  // One that is listed as gone and stands on the chain is named where it is listed.
  const vanished = gone.filter(log => !onChain.has(placeOf(log)))
  let previous: Checkpoint | undefined
  for (const one of checkpoints) {
    if (one.to_block > view.to) break
    const misfit = (detail: string) => ({ to_block: one.to_block, detail })
    if (one.chain_id !== view.chainId) return misfit(`it is of chain ${one.chain_id}`)
    if (one.token_address.toLowerCase() !== view.token) return misfit(`it is of the token ${one.token_address}`)
    const routers = one.router_addresses.map(router => router.toLowerCase())
    if (previous && previous.to_block + 1 !== one.from_block) return misfit(`it begins at block ${one.from_block}, behind a gap`)
    if (one.previous_hash !== (previous?.hash ?? ZERO_HASH)) return misfit('it does not name the hash of the one before it')
    const hash = view.hashes.get(one.to_block)
    if (hash !== one.block_hash) return misfit(`block ${one.to_block} is ${one.block_hash} in it, and ${hash ?? 'none'} on the node`)
    for (const log of one.late.map(toLog)) {
      const seen = onChain.get(placeOf(log))
      if (!seen || checkpointLine('late', seen) !== checkpointLine('late', log))
        return misfit(`it lists the log ${log.logIndex} of ${log.txHash} as late, and the node has none like it`)
    }
    const standing = one.gone.map(toLog).find(log => onChain.has(placeOf(log)))
    if (standing) return misfit(`it lists the log ${standing.logIndex} of ${standing.txHash} as gone, and the node has it`)
    const isOwn = ({ blockNumber, router }: RouterLog) =>
      blockNumber >= one.from_block && blockNumber <= one.to_block && routers.includes(router)
    const own = [...view.logs, ...vanished].filter(log => isOwn(log) && !late.has(placeOf(log)))
    own.sort((a, b) => a.blockNumber - b.blockNumber || compareText(a.blockHash, b.blockHash) || a.logIndex - b.logIndex)
    if (own.length !== one.payments) return misfit(`it has ${one.payments} payments, and the node has ${own.length}`)
    if (checkpointHash(one, own) !== one.hash) return misfit(`its hash is ${one.hash}, and by the node ${checkpointHash(one, own)}`)
    previous = one
  }
  const missing = view.routers.find(router => previous && !previous.router_addresses.some(one => one.toLowerCase() === router))
  return missing && previous ? { to_block: previous.to_block, detail: `it does not cover the router ${missing}` } : null
}

/** The service writes one for every thousand confirmed blocks; two intervals are left to it. */
const OVERDUE_BLOCKS = 2_000

/** That a service shows none of blocks which are long confirmed: what is not published can be changed unseen. */
export function overdueMisfit(
  last: Checkpoint | undefined,
  { from, to }: { from: number; to: number },
): { to_block: number; detail: string } | null {
  const above = last?.to_block ?? from
  return to - above > OVERDUE_BLOCKS ? { to_block: above, detail: `none is shown above it, and block ${to} is confirmed` } : null
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const placeOf = ({ blockHash, logIndex }: Pick<RouterLog, 'blockHash' | 'logIndex'>) => `${blockHash} ${logIndex}`

const toLog = (log: Checkpoint['late'][number]): RouterLog => ({
  blockNumber: log.block_number,
  blockHash: log.block_hash,
  txHash: log.tx_hash,
  logIndex: log.log_index,
  router: log.router_address.toLowerCase(),
  memo: log.memo,
  merchant: log.merchant_address.toLowerCase(),
  payer: log.payer_address.toLowerCase(),
  share: unitsOf(log.merchant_share),
  fee: unitsOf(log.fee),
})
