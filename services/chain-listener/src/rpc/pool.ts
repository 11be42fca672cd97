import type { Logger } from '@ponte/service-kit'
import { RpcError } from './error'
import { afterFailure, afterHead, afterSuccess, candidates, fresh, type Health, type RestReason, standsStill, voters } from './health'
import type { Node } from './node'

/** Thrown by work on a node that must not be asked for a while; the next one is tried. */
export class DistrustError extends Error {
  override name = 'DistrustError'

  constructor(
    readonly reason: RestReason,
    message: string,
  ) {
    super(message)
  }
}

/** No node can be asked now. */
export class NoNodeError extends Error {
  override name = 'NoNodeError'
}

export interface Nodes {
  /**
   * Runs work on the first node that does it. What another node may do better sends this one to rest and goes on to the next;
   * `too_wide` and `beyond_head` are thrown to the caller, because another node would only answer the same. Throws NoNodeError when all rest.
   */
  use<T>(work: (node: Node) => Promise<T>): Promise<T>
  /** The same, on another node than the one that `use` last used, as long as there is one that does not rest. */
  useAnother<T>(work: (node: Node) => Promise<T>): Promise<T>
  /** Runs work on every node that does not rest, at once; resolves once `enough` holds of the answers, or when all are done. */
  ballot<T>(work: (node: Node) => Promise<T>, enough: (values: T[]) => boolean): Promise<{ node: Node; value: T }[]>
  /** The same with those that rest because of their answers, too. */
  vote<T>(work: (node: Node) => Promise<T>, enough: (values: T[]) => boolean): Promise<{ node: Node; value: T }[]>
  distrust(name: string, reason: RestReason, message: string): void
  sawHead(name: string, head: number): void
  standsStill(name: string): boolean
  /** Milliseconds since any of them last answered. */
  silentMs(): number
  /** For status and metrics. */
  view(): { name: string; in_use: boolean; resting: RestReason | null; head: number | null }[]
  close(): Promise<void>
}

export interface NodesOptions {
  stallMs: number
  clock: () => number
  logger: Logger
  onFailOver(from: string, reason: RestReason): void
}

export function openNodes(nodes: readonly Node[], options: NodesOptions): Nodes {
  const { clock, logger } = options
  const healths: Health[] = nodes.map(() => fresh(clock()))
  const health = (index: number) => healths[index] ?? fresh(clock())
  const indexOf = (name: string) => nodes.findIndex(node => node.name === name)
  let inUse: string | undefined
  let answeredAt = clock()

  const rest = (index: number, reason: RestReason, message: string, retryAfterMs?: number) => {
    const node = nodes[index]
    if (!node) return
    healths[index] = afterFailure(health(index), reason, clock(), retryAfterMs)
    options.onFailOver(node.name, reason)
    logger.warn('an RPC node is left alone for a while', { rpc: node.name, reason, detail: message })
  }
  const attempt = async <T>(index: number, node: Node, work: (node: Node) => Promise<T>): Promise<{ value: T } | undefined> => {
    try {
      const value = await work(node)
      answeredAt = clock()
      healths[index] = afterSuccess(health(index), clock())
      return { value }
    } catch (error) {
      if (error instanceof DistrustError) rest(index, error.reason, error.message)
      else if (error instanceof RpcError && error.kind !== 'too_wide' && error.kind !== 'beyond_head')
        rest(index, error.kind, error.message, error.hints.retryAfterMs)
      else throw error
      return undefined
    }
  }
  const among = <T>(indexes: readonly number[], work: (node: Node) => Promise<T>, enough: (values: T[]) => boolean) => {
    const answer = (node: Node) =>
      attempt(nodes.indexOf(node), node, work).catch(error => void logger.debug('an RPC node has no answer', { rpc: node.name, error }))
    return count(
      indexes.flatMap(index => nodes[index] ?? []),
      answer,
      enough,
    )
  }
  /** Asks these nodes in turn; `chosen` is called with each before it is asked. */
  const inTurn = async <T>(indexes: readonly number[], work: (node: Node) => Promise<T>, chosen?: (node: Node) => void): Promise<T> => {
    for (const index of indexes) {
      const node = nodes[index]
      if (!node) continue
      chosen?.(node)
      const done = await attempt(index, node, work)
      if (done) return done.value
    }
    throw new NoNodeError(`no RPC node can be asked now: ${nodes.map((node, index) => `${node.name} ${health(index).reason}`).join(', ')}`)
  }
  return {
    use: work =>
      inTurn(candidates(healths, clock()), work, node => {
        if (inUse !== undefined && inUse !== node.name) logger.info('another RPC node is in use', { rpc: node.name })
        inUse = node.name
      }),
    useAnother(work) {
      const isInUse = (index: number) => nodes[index]?.name === inUse
      const asked = candidates(healths, clock())
      return inTurn([...asked.filter(index => !isInUse(index)), ...asked.filter(isInUse)], work)
    },
    ballot: (work, enough) => among(candidates(healths, clock()), work, enough),
    vote: (work, enough) => among(voters(healths, clock()), work, enough),
    distrust: (name, reason, message) => rest(indexOf(name), reason, message),
    sawHead(name, head) {
      const index = indexOf(name)
      if (index >= 0) healths[index] = afterHead(health(index), head, clock())
    },
    silentMs: () => clock() - answeredAt,
    standsStill: name => standsStill(health(indexOf(name)), clock(), options.stallMs),
    view: () =>
      nodes.map((node, index) => ({
        name: node.name,
        in_use: node.name === inUse,
        resting: health(index).restUntil > clock() ? health(index).reason : null,
        head: health(index).head < 0 ? null : health(index).head,
      })),
    close: async () => {
      await Promise.all(nodes.map(node => node.close()))
    },
  }
}

/** Asks all at once; resolves once `enough` holds of the answers, or when all are done. */
function count<T>(
  asked: readonly Node[],
  answer: (node: Node) => Promise<{ value: T } | undefined>,
  enough: (values: T[]) => boolean,
): Promise<{ node: Node; value: T }[]> {
  return new Promise(resolve => {
    const answers: { node: Node; value: T }[] = []
    const all = asked.map(async node => {
      const done = await answer(node)
      if (done) answers.push({ node, value: done.value })
      if (done && enough(answers.map(({ value }) => value))) resolve([...answers])
    })
    void Promise.all(all).then(() => resolve([...answers]))
  })
}
