import type { Logger } from '@ponte/service-kit'
import type { Block } from '../../logs/block'
import type { Watch } from '../../logs/filter'
import { byPlace, type SeenPayment } from '../../logs/payment-received'
import { toDeposits } from '../../logs/transfer'
import type { TimedPayment } from '../../payment'
import { fetchClaims, fetchHeaders, HEADERS_AT_ONCE, type Header, strictly } from '../../proof/header'
import { type Prover, UnprovenError } from '../../proof/prover'
import type { Node } from '../../rpc/node'
import type { Nodes } from '../../rpc/pool'
import { type FindDeposits, fetchRange } from '../fetch'
import type { ScanSession } from '../session'
import { findAncestor } from './fork'

export interface VotesOptions {
  nodes: Nodes
  watch: Watch
  /** The addresses that the scan holds transfers against. */
  findDeposits: FindDeposits
  quorum: number
  prover: Prover
  logger: Logger
  undecided(): void
  /** A proof could not be had, and why. */
  unproven(reason: string): void
}

/** `ours` when what we saw is so, `theirs` when it is not, `undecided` while neither is known. */
export type Outcome = 'ours' | 'theirs' | 'undecided'

/** What is read for which addresses. */
interface Reading {
  watch: Watch
  findDeposits: FindDeposits
}

interface Answer {
  node: Node
  value: { last: Block; payments: TimedPayment[] }
}

/** Decides what no node alone may decide: by proof where nodes can give it, and else by how many of them agree. */
export function createVotes({ nodes, watch, findDeposits, quorum, prover, logger, undecided, unproven }: VotesOptions) {
  const answerOf = (from: number, to: Block, as: Reading) => (node: Node) =>
    fetchRange(node, as.watch, { from, to: to.number }, as.findDeposits)

  /** Null when the work ended in UnprovenError. */
  const proven = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UnprovenError)) throw error
      unproven(error.message)
      return null
    }
  }
  const distrustThose = (answers: readonly Answer[], lies: (value: Answer['value']) => boolean, message: string) => {
    for (const { node, value } of answers) if (lies(value)) nodes.distrust(node.name, quorum > 1 ? 'outvoted' : 'wrong_answer', message)
  }
  const distrustInUse = (message: string) => {
    const inUse = nodes.view().find(node => node.in_use)
    if (inUse) nodes.distrust(inUse.name, 'wrong_answer', message)
  }
  const report = (from: number, to: Block, answers: number): Outcome => {
    undecided()
    logger.warn('the RPC end points do not agree; nothing is confirmed meanwhile', { from, to: to.number, answers, quorum })
    return 'undecided'
  }

  /** The headers that enough nodes have, with the same transactions; undefined while they do not agree. */
  const agreedHeaders = async (numbers: readonly number[]): Promise<Header[] | undefined> => {
    const read = (node: Node) => fetchClaims(node, watch, numbers)
    if (quorum <= 1) return nodes.useAnother(node => strictly(() => fetchHeaders(node, watch, numbers)))
    const enough = (values: Header[][]) => numbers.every((_, index) => agreedHeader(column(values, index), quorum))
    const votes = await nodes.vote(read, enough)
    const agreed = numbers.map((_, index) =>
      agreedHeader(
        column(
          votes.map(({ value }) => value),
          index,
        ),
        quorum,
      ),
    )
    for (const { node, value } of votes) {
      const wrong = value.find((header, index) => header.seal === 'broken' || isUnlike(header, agreed[index]))
      if (wrong) nodes.distrust(node.name, 'outvoted', `it has another block ${wrong.number} than ${quorum} others`)
    }
    return agreed.every(header => header !== undefined) ? agreed : undefined
  }
  const onHash = async (from: number, to: Block): Promise<Outcome> => {
    if (quorum <= 1) return 'ours'
    const [agreed] = (await agreedHeaders([to.number])) ?? []
    if (!agreed) return report(from, to, 0)
    return headOf(agreed) === headOf(to) ? 'ours' : 'theirs'
  }
  /** The headers of the blocks that these payments name, by number; undefined while nodes do not agree. */
  const headersOf = async (payments: readonly SeenPayment[]): Promise<Map<number, Header> | undefined> => {
    const numbers = [...new Set(payments.map(({ blockNumber }) => blockNumber))]
    const headers = new Map<number, Header>()
    for (let first = 0; first < numbers.length; first += HEADERS_AT_ONCE) {
      const some = await agreedHeaders(numbers.slice(first, first + HEADERS_AT_ONCE))
      if (!some) return undefined
      for (const header of some) headers.set(header.number, header)
    }
    return headers
  }

  /** By proof of everything in these blocks; null when it cannot be had. */
  const byProof = async (from: number, to: Block, payments: readonly SeenPayment[], as: Reading): Promise<Outcome | null> => {
    const logs = await proven(() => prover.logs(from, to, as.watch))
    if (!logs) return null
    const onChain = digest(to, [...logs.payments, ...toDeposits(logs.transfers, await as.findDeposits(logs.transfers))])
    const agreed = await onHash(from, to)
    if (agreed !== 'ours' || onChain === digest(to, payments)) return agreed
    const answers = await nodes.vote(answerOf(from, to, as), () => false)
    distrustThose(
      answers,
      value => value.last.hash === to.hash && digest(value.last, value.payments) !== onChain,
      `what it shows in ${from} to ${to.number} is not what the receipts prove`,
    )
    return 'theirs'
  }

  /** By what nodes show, where each payment that one of them shows must be proven; a payment that is proven is there, whichever node shows it. */
  const byShow = async (from: number, to: Block, payments: readonly SeenPayment[], as: Reading): Promise<Outcome> => {
    const digestOf = (value: Answer['value']) => digest(value.last, value.payments)
    const enough = (values: Answer['value'][]) => tally(values.map(digestOf), quorum) !== undefined
    const answers = quorum <= 1 ? [] : await nodes.vote(answerOf(from, to, as), enough)
    const agreed = await onHash(from, to)
    if (agreed !== 'ours') return agreed
    const alike = answers.filter(({ value }) => headOf(value.last) === headOf(to))
    const shown = unionOf([...payments, ...alike.flatMap(({ value }) => value.payments)])
    const headers = await headersOf(shown)
    if (!headers) return report(from, to, answers.length)
    const refuted = await proven(() => prover.refute(shown, headers, as.watch))
    if (!refuted || !prover.provesPayments) {
      const winner =
        quorum <= 1
          ? digest(to, payments)
          : tally(
              alike.map(({ value }) => digestOf(value)),
              quorum,
            )
      if (refuted && payments.some(payment => refuted.has(payment))) {
        const message = `it shows payments in ${from} to ${to.number} that their blocks exclude`
        const texts = new Set([...refuted].map(lineOf))
        if (quorum <= 1) distrustInUse(message)
        distrustThose(alike, value => value.payments.some(payment => texts.has(lineOf(payment))), message)
        return 'theirs'
      }
      if (winner === undefined) return report(from, to, answers.length)
      distrustThose(alike, value => digestOf(value) !== winner, `it has other payments in ${from} to ${to.number} than ${quorum} others`)
      return winner === digest(to, payments) ? 'ours' : 'theirs'
    }
    const truth = digest(
      to,
      shown.filter(payment => !refuted.has(payment)),
    )
    const message = `what it shows in ${from} to ${to.number} is not what the receipts prove`
    distrustThose(alike, value => digestOf(value) !== truth, message)
    if (digest(to, payments) === truth) return 'ours'
    if (quorum <= 1) distrustInUse(message)
    return 'theirs'
  }

  return {
    /** Whether these are the payments of these blocks. Who contradicts what is known then is left alone for a while. */
    async onRange(
      from: number,
      to: Block | undefined,
      payments: readonly SeenPayment[],
      as: Reading = { watch, findDeposits },
    ): Promise<Outcome> {
      if (!to || (quorum <= 1 && payments.length === 0 && !prover.isComplete)) return 'ours'
      return (prover.isComplete ? await byProof(from, to, payments, as) : null) ?? byShow(from, to, payments, as)
    },

    /** Whether a reorganisation that undoes confirmed blocks may be followed: enough nodes show it, or none contradicts where one suffices. */
    async onDeepFork(session: ScanSession, ancestor: Block): Promise<boolean> {
      const confirmed = session.cursor.confirmed.number
      if (ancestor.number >= confirmed) return true
      const votes = await nodes.ballot(
        async node => ((await findAncestor(node, watch, session.remembered))?.number ?? -1) < confirmed,
        () => false,
      )
      const agree = votes.filter(({ value }) => value).length
      return quorum > 1 ? agree >= quorum : agree === votes.length
    },
  }
}
export type Votes = ReturnType<typeof createVotes>

/** A majority of the end points; of two both. One is trusted alone. */
export const quorumOf = (urls: number, configured: number | undefined) => Math.min(urls, configured ?? Math.floor(urls / 2) + 1)

const headOf = ({ hash, time }: Pick<Block, 'hash' | 'time'>) => `${hash} ${time}`

const lineOf = (p: SeenPayment) =>
  [
    ...[p.blockNumber, p.logIndex, p.blockHash, p.blockTime, p.txHash, p.kind, p.router, p.memo, p.merchant, p.payer, p.amount],
    p.deposit,
  ].join(' ')

const isUnlike = (header: Header, agreed: Header | undefined) => agreed !== undefined && headOf(header) !== headOf(agreed)

const column = (votes: readonly Header[][], index: number): Header[] => votes.flatMap(headers => headers[index] ?? [])

/**
 * The header that enough nodes name. Where it is known how headers are hashed, a hash and the transactions are enough, and the header is one that
 * hashes to it; elsewhere they must show the same time, too.
 */
export function agreedHeader(claims: readonly Header[], quorum: number): Header | undefined {
  const honest = claims.filter(({ seal }) => seal !== 'broken')
  const textOf = ({ hash, transactions }: Header) => `${hash} ${transactions}`
  const winner = tally(claims.map(textOf), quorum)
  const sealed = honest.find(header => header.seal === 'sealed' && textOf(header) === winner)
  if (sealed) return sealed
  const unsealed = honest.filter(({ seal }) => seal === 'unknown')
  const agreed = tally(
    unsealed.map(header => `${headOf(header)} ${header.transactions}`),
    quorum,
  )
  return unsealed.find(header => `${headOf(header)} ${header.transactions}` === agreed)
}

/** The same text for the same payments up to the same block, at the same times, whichever node read them in whatever order. */
export function digest(last: Pick<Block, 'hash' | 'time'>, payments: readonly SeenPayment[]): string {
  return [headOf(last), ...payments.map(lineOf).sort()].join('\n')
}

/** Each payment once, in the order of the chain. The first of those that are alike is kept. */
function unionOf(payments: readonly SeenPayment[]): SeenPayment[] {
  const union = new Map<string, SeenPayment>()
  for (const payment of payments) if (!union.has(lineOf(payment))) union.set(lineOf(payment), payment)
  return [...union.values()].sort(byPlace)
}

/** The answer that at least `quorum` gave; a quorum of half or less takes the most frequent one. */
export function tally(answers: readonly string[], quorum: number): string | undefined {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best && best[1] >= quorum ? best[0] : undefined
}
