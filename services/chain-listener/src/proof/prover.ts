import type { Block } from '../logs/block'
import { admitsPayment, admitsWatched, type SeenLogs, type Watch } from '../logs/filter'
import { MalformedLogError, type SeenPayment } from '../logs/payment-received'
import { hasUncoveredReceipt, logsOfReceipts, type RawReceipt, receiptsRoot, toReceipts } from '../logs/receipts'
import { classify, toRpcError } from '../rpc/error'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import { fetchHeaders, HEADERS_AT_ONCE, type Header, strictly } from './header'
import { fetchReceipts, isTooWide } from './receipts'

/**
 * The blocks whose receipts are read and held against their header: all, those whose bloom admits what is watched, those with payments that a node
 * shows, or none. With the first two nothing can be left out either.
 */
export const proofModes = ['all', 'admitted', 'payments', 'none'] as const
export type ProofMode = (typeof proofModes)[number]

/** The node cannot give a proof, or it is not known how this chain's are made: what follows is a vote on what nodes answer. */
export class UnprovenError extends Error {
  override name = 'UnprovenError'
}

/** Receipts of one block that are held in memory at once. */
const PROOF_BYTES_MAX = 32_000_000

export interface ProverOptions {
  nodes: Nodes
  mode: ProofMode
}

export type Prover = ReturnType<typeof createProver>

/**
 * Reads what a block holds in a way that its hash covers: the header hashes to it, and the receipts to the root in the header. One block after the
 * other, because anyone can fill some with receipts, which take several times their size in memory.
 */
export function createProver({ nodes, mode }: ProverOptions) {
  const receiptsOf = async (header: Header, watch: Watch): Promise<SeenLogs> => {
    try {
      return await readReceipts(header, watch, nodes.use)
    } catch (error) {
      // What one node cannot prove, another may.
      if (!(error instanceof UnprovenError) || nodes.view().length === 1) throw error
      return readReceipts(header, watch, nodes.useAnother)
    }
  }
  const readReceipts = (header: Header, watch: Watch, ask: Nodes['use']): Promise<SeenLogs> =>
    ask(node =>
      strictly(async () => {
        const receipts = await receiptsFrom(node, header)
        const root = await receiptsRoot(receipts)
        if (root === undefined) throw new UnprovenError(`block ${header.number} has a receipt of a kind that is not known`)
        if (root !== header.receiptsRoot) {
          if (hasUncoveredReceipt(receipts)) throw new UnprovenError(`block ${header.number} has a receipt that no root covers`)
          throw new MalformedLogError(`the receipts of block ${header.number} do not hash to the root in its header`)
        }
        // No root covers these hashes; the header that names them comes from another node where there is one.
        if (receipts.some(({ transactionHash }, index) => transactionHash !== header.transactions[index]))
          throw new UnprovenError(`the nodes do not agree on the transactions of block ${header.number}`)
        return logsOfReceipts(receipts, header, watch)
      }),
    )
  const receiptsFrom = async (node: Node, header: Header): Promise<RawReceipt[]> =>
    (await receiptsAtOnce(node, header)) ?? receiptsInParts(node, header)
  /** Undefined when they are more than one answer may hold. */
  const receiptsAtOnce = async (node: Node, header: Header): Promise<RawReceipt[] | undefined> => {
    try {
      const [outcome] = await node.outcomes([{ method: 'eth_getBlockReceipts', params: [header.hash] }])
      if (outcome && 'refusal' in outcome) {
        const kind = classify(outcome.refusal)
        if (kind === 'rate_limited' || kind === 'unavailable' || kind === 'too_wide') throw toRpcError(outcome.refusal)
        throw new UnprovenError(`${node.name} has no receipts of a block: ${outcome.refusal.message}`)
      }
      if (!outcome?.result) throw new UnprovenError(`${node.name} has no receipts of block ${header.number}`)
      return toReceipts(outcome.result)
    } catch (error) {
      if (isTooWide(error)) return undefined
      throw error
    }
  }
  /** Anyone can make a receipt that is larger than an answer may be, or fill a block with receipts: it keeps no later block from being confirmed. */
  const receiptsInParts = async (node: Node, header: Header): Promise<RawReceipt[]> => {
    try {
      return await fetchReceipts(node, header, PROOF_BYTES_MAX)
    } catch (error) {
      if (isTooWide(error)) throw new UnprovenError(`the receipts of block ${header.number} are too large: ${error.message}`)
      throw error
    }
  }
  const logsOf = async (header: Header, watch: Watch): Promise<SeenLogs> => {
    if (header.seal !== 'sealed') throw new UnprovenError(`it is not known how the header of block ${header.number} is hashed`)
    if (mode === 'admitted' && !admitsWatched(header.bloom, watch)) return { payments: [], transfers: [] }
    return receiptsOf(header, watch)
  }
  return {
    /** True when proofs show what nodes leave out, too. */
    isComplete: mode === 'all' || mode === 'admitted',
    provesPayments: mode === 'payments',

    /** Everything that is watched in these blocks, up to one that we know by its hash. Throws UnprovenError. */
    async logs(from: number, to: Block, watch: Watch): Promise<SeenLogs> {
      const all: SeenLogs = { payments: [], transfers: [] }
      let expected = to.hash
      for (let last = to.number; last >= from; last -= HEADERS_AT_ONCE) {
        const numbers = Array.from({ length: Math.min(HEADERS_AT_ONCE, last - from + 1) }, (_, index) => last - index)
        const headers = await nodes.useAnother(node => strictly(() => fetchHeaders(node, watch, numbers)))
        // From our last block downwards, each named by the one above it.
        for (const header of headers) {
          if (header.hash !== expected) throw new UnprovenError(`block ${header.number} of a node does not lead to ours`)
          expected = header.parentHash
        }
        for (const header of headers) {
          const { payments, transfers } = await logsOf(header, watch)
          all.payments.push(...payments)
          all.transfers.push(...transfers)
        }
      }
      return all
    },

    /**
     * Those of these payments that a chain with these headers, by number, cannot have: in another block or at another time, excluded by the bloom,
     * or not among the receipts. Throws UnprovenError when receipts that decide cannot be had.
     */
    async refute(payments: readonly SeenPayment[], headers: ReadonlyMap<number, Header>, watch: Watch): Promise<Set<SeenPayment>> {
      const refuted = new Set(
        payments.filter(one => {
          const header = headers.get(one.blockNumber)
          return header?.hash !== one.blockHash || header.time !== one.blockTime || !admitsPayment(header.bloom, one, watch)
        }),
      )
      if (mode !== 'payments') return refuted
      const byBlock = new Map<number, SeenPayment[]>()
      for (const one of payments) if (!refuted.has(one)) byBlock.set(one.blockNumber, [...(byBlock.get(one.blockNumber) ?? []), one])
      for (const [number, some] of byBlock) {
        const header = headers.get(number)
        if (!header) continue
        const proven = await logsOf(header, watch)
        for (const one of some) if (!isAmong(proven, one)) refuted.add(one)
      }
      return refuted
    },
  }
}

function isAmong({ payments, transfers }: SeenLogs, one: SeenPayment): boolean {
  const isHere = (log: { txHash: string; logIndex: number; amount: bigint }) =>
    log.txHash === one.txHash && log.logIndex === one.logIndex && log.amount === one.amount
  if (one.kind === 'transfer') return transfers.some(log => isHere(log) && log.from === one.payer && log.to === one.deposit)
  return payments.some(
    log =>
      isHere(log) &&
      log.kind === one.kind &&
      log.router === one.router &&
      log.memo === one.memo &&
      log.merchant === one.merchant &&
      log.payer === one.payer,
  )
}
