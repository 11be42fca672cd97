import { coveredReceipts, type ReceiptForm, receiptsRoot } from '@ponte/payment-router'
import type { SeenLogs, Watch } from '../logs/filter'
import { MalformedLogError } from '../logs/payment-received'
import { logsOfReceipts, type RawReceipt, toReceipts } from '../logs/receipts'
import { RpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import { type Nodes, NoNodeError } from '../rpc/pool'
import { type Header, strictly } from './header'
import { fetchReceipts, isTooWide } from './receipts'

/** `proven`: what a block's receipts show is what it holds. `voted`: what enough nodes show is. */
export const proofModes = ['proven', 'voted'] as const
export type ProofMode = (typeof proofModes)[number]

/** Receipts of one block that are held in memory at once. */
const PROOF_BYTES_MAX = 32_000_000
/** Gas of the blocks whose receipts are held at once, some 4 MB of logs, and of those that are one question. A block that took more is read by itself. */
const GAS_AT_ONCE = 30_000_000
const GAS_OF_GROUP = 5_000_000
const BLOCKS_OF_GROUP = 32
/** Logs of proven blocks that are remembered until they are confirmed: what one node leaves out is there whichever node is asked next. */
const REMEMBERED_LOGS = 50_000

export interface ProverOptions {
  nodes: Nodes
  mode: ProofMode
  receipts: ReceiptForm
  watch: Watch
  /** A proof could not be had, and why. */
  unproven(reason: string): void
}

/** A block, and everything in it that is watched. */
export interface ProvenLogs extends SeenLogs {
  header: Header
  withTransfers: boolean
}

export type Prover = ReturnType<typeof createProver>

/** Reads what a block holds in a way that its hash covers: the header hashes to it, and the receipts to the root in the header. */
export function createProver({ nodes, mode, receipts: form, watch, unproven }: ProverOptions) {
  const withGas = createGasLimit(GAS_AT_ONCE)
  const remembered = new Map<number, ProvenLogs>()
  let held = 0

  const drop = (number: number) => {
    held -= sizeOf(remembered.get(number))
    remembered.delete(number)
  }
  const remember = (proven: ProvenLogs) => {
    drop(proven.header.number)
    remembered.set(proven.header.number, proven)
    held += sizeOf(proven)
    for (const number of remembered.keys()) if (held > REMEMBERED_LOGS) drop(number)
  }

  const verify = (header: Header, receipts: readonly RawReceipt[], transfers: 'all' | 'none'): SeenLogs => {
    const covered = coveredReceipts(receipts, header.receiptsRoot, form)
    // Since a fork that this release does not know: no node can prove the block, and nodes that agree vote on it.
    if (!covered && receiptsRoot(receipts, form) === undefined)
      throw new RpcError('other', `block ${header.number} has a receipt of an unknown type`)
    if (!covered) throw new MalformedLogError(`the receipts of block ${header.number} do not hash to the root in its header`)
    // No root covers these hashes; the header that names them comes from another node where there is one.
    if (covered.some(({ transactionHash }, index) => transactionHash !== header.transactions[index]))
      throw new RpcError('other', `the nodes do not agree on the transactions of block ${header.number}`)
    return logsOfReceipts(covered, header, { ...watch, transfers })
  }
  const readOne = async (header: Header, transfers: 'all' | 'none'): Promise<SeenLogs | undefined> => {
    try {
      return await nodes.useAnother('receipts', node => strictly(async () => verify(header, await receiptsFrom(node, header), transfers)))
    } catch (error) {
      // While nodes do not answer, it is not known whether they have the receipts.
      const refusals = error instanceof NoNodeError ? error.refusals : isTooWide(error) ? [error] : []
      const reason = refusals.at(-1)?.message
      if (reason === undefined) throw error
      unproven(`block ${header.number}: ${reason}`)
      return undefined
    }
  }
  /** In one question where a node bears it, and else each block by itself. */
  const readGroup = async (headers: readonly Header[], transfers: 'all' | 'none'): Promise<(SeenLogs | undefined)[]> => {
    if (headers.length > 1) {
      try {
        return await nodes.useAnother('receipts', node =>
          strictly(async () => {
            const receipts = await askReceipts(node, headers)
            return headers.map((header, index) => verify(header, receipts[index] ?? [], transfers))
          }),
        )
      } catch (error) {
        if (!(error instanceof RpcError || error instanceof NoNodeError)) throw error
      }
    }
    return Promise.all(headers.map(header => readOne(header, transfers)))
  }
  return {
    mode,
    /** Logs of blocks by their sealed headers, by number; blocks that cannot be proven are left out. Throws NoNodeError. */
    async prove(headers: readonly Header[], withTransfers: boolean): Promise<Map<number, ProvenLogs>> {
      const proofs = new Map<number, ProvenLogs>()
      const unread: Header[] = []
      for (const header of mode === 'voted' ? [] : headers) {
        const known = remembered.get(header.number)
        if (known?.header.hash === header.hash && (known.withTransfers || !withTransfers)) proofs.set(header.number, known)
        else if (header.isSealed) unread.push(header)
      }
      const readOn = async (group: readonly Header[]) => {
        const logs = await withGas(gasOf(group), () => readGroup(group, withTransfers ? 'all' : 'none'))
        for (const [index, header] of group.entries()) {
          const seen = logs[index]
          if (!seen) continue
          const proven = { ...seen, header, withTransfers }
          proofs.set(header.number, proven)
          remember(proven)
        }
      }
      await Promise.all(inGroups(unread).map(readOn))
      return proofs
    },
    forget(upTo: number): void {
      for (const number of remembered.keys()) if (number <= upTo) drop(number)
    },
    known: (from: number, to: number): ProvenLogs[] =>
      [...remembered.values()].filter(({ header: { number } }) => number >= from && number <= to),
  }
}

const sizeOf = (proven: ProvenLogs | undefined) => (proven ? 1 + proven.payments.length + proven.transfers.length : 0)

const gasOf = (headers: readonly Header[]) => headers.reduce((sum, { gasUsed }) => sum + gasUsed, 0)

function inGroups(headers: readonly Header[]): Header[][] {
  const groups: Header[][] = []
  for (const header of headers) {
    const group = groups.at(-1)
    if (group && group.length < BLOCKS_OF_GROUP && gasOf(group) + header.gasUsed <= GAS_OF_GROUP) group.push(header)
    else groups.push([header])
  }
  return groups
}

/** Work side by side, in turn, while all of it together takes no more gas than this; what takes more waits for all before it. */
function createGasLimit(most: number) {
  let used = 0
  let line = Promise.resolve()
  let released = () => undefined as void
  const enter = async (gas: number) => {
    while (used > 0 && used + gas > most) await new Promise<void>(resolve => (released = resolve))
    used += gas
  }
  return async <T>(gas: number, work: () => Promise<T>): Promise<T> => {
    line = line.then(() => enter(gas))
    await line
    try {
      return await work()
    } finally {
      used -= gas
      released()
    }
  }
}

async function askReceipts(node: Node, headers: readonly Header[]): Promise<RawReceipt[][]> {
  const { results } = await node.ask(headers.map(({ hash }) => ({ method: 'eth_getBlockReceipts', params: [hash] })))
  return headers.map(({ number }, index) => {
    if (!results[index]) throw new RpcError('no_history', `${node.name} has no receipts of block ${number}`)
    return toReceipts(results[index])
  })
}

/** A block that is too full for one answer is read in parts: anyone can make a receipt that is larger than an answer may be. */
async function receiptsFrom(node: Node, header: Header): Promise<RawReceipt[]> {
  try {
    return (await askReceipts(node, [header]))[0] ?? []
  } catch (error) {
    // A node that cannot give them at once may give each by itself.
    if (isTooWide(error) || (error instanceof RpcError && error.kind === 'unsupported')) return fetchReceipts(node, header, PROOF_BYTES_MAX)
    throw error
  }
}
