import type { Logger } from '@ponte/service-kit'
import type { Block } from '../../logs/block'
import { admitsPayment, type Watch } from '../../logs/filter'
import { byPlace, type SeenPayment } from '../../logs/payment-received'
import { type Deposit, toDeposits, withoutMoved } from '../../logs/transfer'
import type { TimedPayment } from '../../payment'
import { fetchClaims, fetchHeaders, HEADERS_AT_ONCE, type Header, strictly } from '../../proof/header'
import type { ProvenLogs, Prover } from '../../proof/prover'
import type { Node } from '../../rpc/node'
import type { Nodes, Vote } from '../../rpc/pool'
import { type BlockBatch, type FindDeposits, fetchRange, questionOf } from '../fetch'
import type { ScanSession } from '../session'
import { findAncestor } from './fork'
import { agreedHeader, areSame, digest, headOf, tally } from './tally'

export interface VotesOptions {
  nodes: Nodes
  watch: Watch
  /** The addresses that the scan holds transfers against. */
  findDeposits: FindDeposits
  quorum: number
  prover: Prover
  logger: Logger
  undecided(): void
}

/**
 * `ours` when what we saw is so. `theirs` when it is not: then these are the payments of those blocks, or the blocks are not the chain's any more.
 * `undecided` while neither is known.
 */
export type Verdict = { kind: 'ours' } | { kind: 'theirs'; payments: TimedPayment[] | undefined } | { kind: 'undecided' }

/** The payments of a finalized range as they were shown, and the decision about them. */
export interface Judged {
  payments: TimedPayment[]
  verdict: Verdict
}

export interface Reading {
  watch: Watch
  findDeposits: FindDeposits
}

export interface RangeOptions {
  as?: Reading
  /** Whether the same is asked once more where one node suffices. */
  again?: boolean
  /** Payments that were seen otherwise: what their blocks hold decides about them, too. */
  alsoSeen?: readonly SeenPayment[]
}

interface Range {
  last: Block
  payments: TimedPayment[]
}

/** Decides what no node alone may decide: by proof where nodes can give it, and else by how many of them agree. */
export function createVotes({ nodes, watch, findDeposits, quorum, prover, logger, undecided }: VotesOptions) {
  const distrustThose = (answers: readonly Vote<Range>[], lies: (value: Range) => boolean, message: string) => {
    for (const { node, value } of answers) if (lies(value)) nodes.distrust(node.name, quorum > 1 ? 'outvoted' : 'wrong_answer', message)
  }
  const report = (from: number, to: Block, answers: number): Verdict => {
    undecided()
    logger.warn('the RPC end points do not agree; nothing is confirmed meanwhile', { from, to: to.number, answers, quorum })
    return { kind: 'undecided' }
  }

  /** The headers that enough nodes have, with the same transactions; undefined while they do not agree. */
  const agreedHeaders = async (numbers: readonly number[]): Promise<Header[] | undefined> => {
    if (quorum <= 1) return nodes.useAnother('headers', node => strictly(() => fetchHeaders(node, watch, numbers)))
    const agree = (values: Awaited<ReturnType<typeof fetchClaims>>[]) =>
      numbers.map((_, index) =>
        agreedHeader(
          values.flatMap(headers => headers[index] ?? []),
          quorum,
        ),
      )
    const votes = await nodes.vote(
      'headers',
      node => fetchClaims(node, watch, numbers),
      values => agree(values).every(header => header !== undefined),
    )
    const agreed = agree(votes.map(({ value }) => value))
    for (const { node, value } of votes) {
      const wrong = value.find((claim, index) => claim.isWorthless || isUnlike(claim, agreed[index]))
      if (wrong) nodes.distrust(node.name, 'outvoted', `it has another block ${wrong.number} than ${quorum} others`)
    }
    return agreed.every(header => header !== undefined) ? agreed : undefined
  }
  /** The headers of the blocks that these payments name, by number; undefined while nodes do not agree. */
  const headersOf = async (shown: readonly (readonly SeenPayment[])[]): Promise<Header[] | undefined> => {
    const numbers = [...new Set(shown.flatMap(payments => payments.map(({ blockNumber }) => blockNumber)))].sort((a, b) => a - b)
    const pieces = Array.from({ length: Math.ceil(numbers.length / HEADERS_AT_ONCE) }, (_, index) =>
      agreedHeaders(numbers.slice(index * HEADERS_AT_ONCE, (index + 1) * HEADERS_AT_ONCE)),
    )
    const headers = await Promise.all(pieces)
    return headers.every(some => some !== undefined) ? headers.flat() : undefined
  }

  /** Shown by another node, or by enough of them: later than our first look, and through other nodes where there are some. */
  const readAgain = async (from: number, to: number, as: Reading): Promise<Vote<Range>[]> => {
    const answer = async (node: Node) => ({ node, value: await fetchRange(node, as.watch, { from, to }, as.findDeposits) })
    const question = questionOf(as.watch)
    if (quorum <= 1) return [await nodes.useAnother(question, answer)]
    const enough = (values: Vote<Range>[]) =>
      tally(
        values.map(({ value }) => digest(value.last, value.payments)),
        quorum,
      ) !== undefined
    return (await nodes.vote(question, answer, enough)).map(({ value }) => value)
  }
  const isOurs = async (to: Block): Promise<boolean | undefined> => {
    if (quorum <= 1) return true
    const [agreed] = (await agreedHeaders([to.number])) ?? []
    return agreed && headOf(agreed) === headOf(to)
  }
  /**
   * Agreed on by enough of these for a block that cannot be proven, and not excluded by its header; undefined while they do not agree. Where one node
   * is trusted, what it shows at either of two looks counts: it can leave a log out for a while, and need not answer twice to invent one.
   */
  const votedIn = (header: Header, ours: readonly SeenPayment[], views: readonly (readonly SeenPayment[])[]): SeenPayment[] | undefined => {
    const possible = (payments: readonly SeenPayment[]) => payments.filter(one => isPossible(one, header, watch))
    const shown = (quorum <= 1 ? [withoutMoved(union([ours, ...views]))] : views).map(possible)
    const winner = tally(
      shown.map(payments => digest(header, payments)),
      quorum,
    )
    return shown.find(payments => digest(header, payments) === winner)
  }

  const votes = {
    /**
     * Whether these are the payments of these blocks, and else which ones are. Who contradicts what is known then is left alone for a while.
     */
    async onRange(
      from: number,
      to: Block | undefined,
      payments: readonly SeenPayment[],
      { as: wanted = { watch, findDeposits }, again = true, alsoSeen = [] }: RangeOptions = {},
    ): Promise<Verdict> {
      if (!to) return { kind: 'ours' }
      const as = { ...wanted, findDeposits: askedOnce(wanted.findDeposits) }
      const [answers, ours] = await Promise.all([again || quorum > 1 ? readAgain(from, to.number, as) : [], isOurs(to)])
      if (ours === undefined) return report(from, to, answers.length)
      if (!ours) return { kind: 'theirs', payments: undefined }
      const alike = answers.filter(({ value }) => headOf(value.last) === headOf(to))
      const known = await inAs(prover.known(from, to.number), as)
      const shown = [payments, alsoSeen, known, ...alike.map(({ value }) => value.payments)]
      if (shown.every(({ length }) => length === 0))
        return quorum <= 1 || alike.length >= quorum ? { kind: 'ours' } : report(from, to, alike.length)
      const headers = await headersOf(shown)
      if (!headers) return report(from, to, answers.length)
      const proofs = await prover.prove(headers, as.watch.transfers !== 'none')
      const inBlock = byBlock(payments)
      const views = alike.map(({ value }) => byBlock(value.payments))
      const truth: SeenPayment[] = await inAs([...proofs.values()], as)
      for (const header of headers) {
        if (proofs.has(header.number)) continue
        const voted = votedIn(
          header,
          inBlock.get(header.number) ?? [],
          views.map(view => view.get(header.number) ?? []),
        )
        if (!voted) return report(from, to, answers.length)
        truth.push(...voted)
      }
      truth.sort(byPlace)
      distrustThose(alike, value => !areSame(value.payments, truth), `it has other payments in ${from} to ${to.number} than the chain`)
      if (areSame(payments, truth)) return { kind: 'ours' }
      const times = new Map(headers.map(({ number, time }) => [number, time]))
      return { kind: 'theirs', payments: truth.map(one => ({ ...one, blockTime: times.get(one.blockNumber) ?? to.time })) }
    },

    prove: (headers: readonly Header[]) => prover.prove(headers, watch.transfers !== 'none'),
    /** Proofs of all that is read take the place of what a node shows. */
    async withProven(
      { from, to, blocks }: { from: number; to: number; blocks: readonly Block[] },
      payments: readonly TimedPayment[],
      as: Reading = { watch, findDeposits },
    ): Promise<TimedPayment[]> {
      const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]))
      const isAsked = ({ header, withTransfers }: ProvenLogs) =>
        (withTransfers || as.watch.transfers === 'none') && (hashes.get(header.number) ?? header.hash) === header.hash
      const known = prover.known(from, to).filter(isAsked)
      if (known.length === 0) return [...payments]
      const proven = new Map(known.map(({ header }) => [header.number, header.hash]))
      const isKnown = ({ blockNumber, blockHash }: SeenPayment) => proven.get(blockNumber) === blockHash
      return [...payments.filter(one => !isKnown(one)), ...(await inAs(known, as))].sort(byPlace)
    },

    /** Payments as a node shows them, but for blocks that are proven. */
    async shownIn(batch: BlockBatch): Promise<TimedPayment[]> {
      const { blocks, payments, transfers } = batch
      const shown = withoutMoved([...payments, ...toDeposits(transfers, await findDeposits(transfers))])
      return votes.withProven({ ...spanOf(batch), blocks }, shown)
    },
    /** Decides about a finalized range, and about payments below it that are not confirmed yet. */
    async onFinalized(
      batch: BlockBatch,
      pending: readonly TimedPayment[] = [],
      from = spanOf(batch).from,
      options: RangeOptions = {},
    ): Promise<Judged> {
      const payments = await votes.shownIn(batch)
      return { payments, verdict: await votes.onRange(from, batch.blocks.at(-1), [...pending, ...payments], options) }
    },

    /** Lets those rest that have another block than enough nodes, with those that answer too late to be outvoted in the vote that showed it. */
    async restOutvoted(number: number): Promise<void> {
      if (quorum <= 1) return
      const claims = await nodes.vote(
        'headers',
        node => fetchClaims(node, watch, [number]),
        () => false,
      )
      const agreed = agreedHeader(
        claims.flatMap(({ value }) => value),
        quorum,
      )
      for (const { node, value } of claims)
        if (value[0] && isUnlike(value[0], agreed))
          nodes.distrust(node.name, 'outvoted', `it has another block ${number} than ${quorum} others`)
    },
    /** Whether a reorganisation that undoes confirmed blocks may be followed: enough nodes show it, or none contradicts where one suffices. */
    async onDeepFork(session: ScanSession, ancestor: Block): Promise<boolean> {
      const confirmed = session.cursor.confirmed.number
      if (ancestor.number >= confirmed) return true
      // Where enough must agree, an outvoted node may be one of them; where one suffices, it must be one that no other has contradicted lately.
      const votes = await nodes[quorum > 1 ? 'vote' : 'ballot'](
        'headers',
        async node => ((await findAncestor(node, watch, session.remembered)).ancestor?.number ?? -1) < confirmed,
        () => false,
      )
      const agree = votes.filter(({ value }) => value).length
      return quorum > 1 ? agree >= quorum : agree > 0 && agree === votes.length
    },
  }
  return votes
}
export type Votes = ReturnType<typeof createVotes>

const spanOf = ({ blocks, count }: BlockBatch) => {
  const to = blocks.at(-1)?.number ?? 0
  return { from: to - count + 1, to }
}

/** Each recipient is looked up once: an address that is issued meanwhile must not count for one node and not for another. */
function askedOnce(findDeposits: FindDeposits): FindDeposits {
  const known = new Map<string, Deposit | undefined>()
  return async transfers => {
    const deposits = await findDeposits(transfers.filter(({ to }) => !known.has(to)))
    for (const { to } of transfers) if (!known.has(to)) known.set(to, deposits.get(to))
    return new Map([...known].flatMap(([to, deposit]) => (deposit ? [[to, deposit]] : [])))
  }
}

/** A majority of the end points; of two both. One is trusted alone. */
export const quorumOf = (urls: number, configured: number | undefined) => Math.min(urls, configured ?? Math.floor(urls / 2) + 1)

/** All of these, each place once. */
function union(views: readonly (readonly SeenPayment[])[]): SeenPayment[] {
  const first = new Map<string, SeenPayment>()
  for (const one of views.flat()) {
    const place = `${one.blockHash} ${one.logIndex}`
    if (!first.has(place)) first.set(place, one)
  }
  return [...first.values()]
}

const isTimed = (one: SeenPayment): one is TimedPayment => one.blockTime !== undefined

const isUnlike = (header: Header, agreed: Header | undefined) => agreed !== undefined && headOf(header) !== headOf(agreed)

const isPossible = (one: SeenPayment, header: Header, watch: Watch) =>
  one.blockHash === header.hash && one.blockTime === header.time && admitsPayment(header.bloom, one, watch)

/** The payments among what was proven, as far as they are read now. */
async function inAs(proofs: readonly ProvenLogs[], { watch, findDeposits }: Reading): Promise<TimedPayment[]> {
  const transfers = watch.transfers === 'none' ? [] : proofs.flatMap(proven => proven.transfers)
  const deposits = toDeposits(transfers, transfers.length > 0 ? await findDeposits(transfers) : new Map())
  const payments = proofs.flatMap(proven => proven.payments).filter(({ router }) => watch.routers.includes(router))
  const times = new Map(proofs.map(({ header }) => [header.number, header.time]))
  // Copied where they must be: while catching up this runs for every payment.
  return withoutMoved([...payments, ...deposits]).map(one => (isTimed(one) ? one : { ...one, blockTime: times.get(one.blockNumber) ?? 0 }))
}

function byBlock(payments: readonly SeenPayment[]): Map<number, SeenPayment[]> {
  const blocks = new Map<number, SeenPayment[]>()
  for (const one of payments) {
    const some = blocks.get(one.blockNumber)
    if (some) some.push(one)
    else blocks.set(one.blockNumber, [one])
  }
  return blocks
}
