import type { Logger } from '@ponte/service-kit'
import { isError } from 'ethers'
import { RpcError } from './error'
import {
  afterFailure,
  afterRefusal,
  afterSilence,
  afterSuccess,
  byPreference,
  fastest,
  fresh,
  type Health,
  mayVote,
  patienceMs,
  type RestReason,
  rests,
} from './health'
import type { Node } from './node'

/** Kinds of question. A node that refuses one may well answer the others. */
export const questions = ['head', 'blocks', 'logs', 'transfers', 'headers', 'receipts', 'state', 'call', 'send'] as const
export type Question = (typeof questions)[number]

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

/** No node answers now. */
export class NoNodeError extends Error {
  override name = 'NoNodeError'

  constructor(
    message: string,
    /** Answers of those that were asked and do not rest for it. */
    readonly refusals: readonly RpcError[] = [],
  ) {
    super(message)
  }
}

type Work<T> = (node: Node) => Promise<T>
export type Use = <T>(question: Question, work: Work<T>) => Promise<T>

export interface Vote<T> {
  node: Node
  value: T
}

export interface Nodes {
  /**
   * The answer of the first node that gives one. A node that refuses is left out of this kind of question for a while, and the next one is asked; so
   * it is beside a node that takes long. Throws what all of them refused for, when they all did for the same reason, and NoNodeError else.
   */
  use: Use
  /** The same, of each node in turn, of the one that is read from last: what one node leaves out, others show. */
  useAnother: Use
  /** Runs work on every node that does not rest, at once; resolves once `enough` holds of the answers, or when all are done. */
  ballot<T>(question: Question, work: Work<T>, enough: (values: T[]) => boolean): Promise<Vote<T>[]>
  /** The same with those that rest because of their answers, too. */
  vote<T>(question: Question, work: Work<T>, enough: (values: T[]) => boolean): Promise<Vote<T>[]>
  /** Leaves a node alone for a while, or for one kind of question only. */
  distrust(name: string, reason: RestReason, message: string, question?: Question): void
  sawHead(name: string, head: number): void
  /** Milliseconds since a node has last shown a higher head. */
  standingMs(name: string): number
  /** Milliseconds since any of them last answered. */
  silentMs(): number
  view(): NodeView[]
  /** Seconds since any node last answered, by kind of question; those that none ever did are left out. */
  answered(): Partial<Record<Question, number>>
  /** Seconds for which a kind of question has been asked in vain; 0 while it is answered, and when it is not asked any more. */
  unanswered(): Record<Question, number>
  close(): Promise<void>
}

export interface NodeView extends ReturnType<Node['learned']> {
  name: string
  in_use: boolean
  resting: RestReason | null
  head: number | null
  /** By kind of question: how long an answer took, why it is not asked now, and why it refused last, if it has not answered since. */
  questions: Partial<Record<Question, { ms: number | null; resting: RestReason | null; refused: RestReason | null }>>
}

export interface NodesOptions {
  clock: () => number
  logger: Logger
  onFailOver(from: string, reason: RestReason): void
}

interface Known {
  node: Node
  whole: Health
  byQuestion: Map<Question, Health>
  /** The kind that it refused in a way that may be meant for all; undefined once it answered anything. */
  refusing: Question | undefined
  /** The highest head it showed, and since when it has shown no higher one. */
  head: number
  headSince: number
}

/** Whatever is asked may be refused for these. */
const OF_THE_NODE: readonly RestReason[] = ['rate_limited', 'unavailable', 'wrong_answer']
/** Certain to be met by the next question, too: a connection that fails, an answer that cannot be. */
const isOfTheNode = ({ kind, hints }: RpcError) =>
  kind === 'wrong_answer' || (kind === 'unavailable' && hints.status === undefined && hints.timedOut !== true)
/** Any node may refuse such a question: it is this one's fault only when another one answers. */
const isOfTheQuestion = ({ kind }: RpcError) => !OF_THE_NODE.includes(kind)
/** Thrown by JavaScript itself, or by ethers' decoder, at an answer of a form that was not thought of. */
const isUnreadable = (error: unknown) =>
  error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError || isError(error, 'BAD_DATA')
/** A question that was asked in vain and is not asked again is not waited for. */
const ASKED_LATELY_MS = 180_000
/** The questions whose answers are what is read. */
const READING: readonly Question[] = ['head', 'blocks', 'logs']

export function openNodes(nodes: readonly Node[], options: NodesOptions): Nodes {
  const { clock, logger } = options
  const known: Known[] = nodes.map(node => ({
    node,
    whole: fresh(),
    byQuestion: new Map(),
    refusing: undefined,
    head: -1,
    headSince: clock(),
  }))
  const named = (name: string) => known.find(({ node }) => node.name === name)
  const healthOf = (one: Known, question: Question) => one.byQuestion.get(question) ?? fresh()
  let inUse: string | undefined
  let answeredAt = clock()
  let turn = 0
  const lastAnswerAt = new Map<Question, number>()
  /** Since when, and when last, no node answered a kind of question. */
  const inVain = new Map<Question, { since: number; last: number }>()

  const rest = (one: Known, question: Question | undefined, reason: RestReason, message: string, retryAfterMs?: number) => {
    if (question) one.byQuestion.set(question, afterFailure(healthOf(one, question), reason, clock(), retryAfterMs))
    else one.whole = afterFailure(one.whole, reason, clock(), retryAfterMs)
    options.onFailOver(one.node.name, reason)
    logger.warn('an RPC node is left alone for a while', { rpc: one.node.name, question: question ?? 'all', reason, detail: message })
  }
  /** A node that refuses a second kind, and answers nothing between, is asked nothing for a while. */
  const refused = (one: Known, question: Question, error: RpcError) => {
    const isOfAll = OF_THE_NODE.includes(error.kind) && error.hints.timedOut !== true
    const isWhole = isOfTheNode(error) || (isOfAll && one.refusing !== undefined && one.refusing !== question)
    if (isOfAll) one.refusing ??= question
    rest(one, isWhole ? undefined : question, error.kind, error.message, error.hints.retryAfterMs)
  }
  const answered = (question: Question) => {
    answeredAt = clock()
    lastAnswerAt.set(question, clock())
    inVain.delete(question)
  }
  const unanswered = (question: Question) => inVain.set(question, { since: inVain.get(question)?.since ?? clock(), last: clock() })
  const attempt = async <T>(one: Known, question: Question, work: Work<T>): Promise<{ value: T } | { refusal: RpcError | null }> => {
    const startedAt = clock()
    try {
      const value = await work(one.node)
      answered(question)
      one.refusing = undefined
      one.whole = afterSuccess(one.whole, clock(), clock() - startedAt)
      one.byQuestion.set(question, afterSuccess(healthOf(one, question), clock(), clock() - startedAt))
      return { value }
    } catch (error) {
      if (error instanceof DistrustError) rest(one, undefined, error.reason, error.message)
      else if (isUnreadable(error)) {
        logger.error('an answer of an RPC node cannot be read', { rpc: one.node.name, question, error })
        rest(one, question, 'wrong_answer', `the answer cannot be read: ${error}`)
      } else if (!(error instanceof RpcError)) throw error
      else if (!isOfTheQuestion(error)) refused(one, question, error)
      return { refusal: error instanceof RpcError ? error : null }
    }
  }
  const awake = (question: Question) => known.filter(one => !rests(one.whole, clock()) && !rests(healthOf(one, question), clock()))
  /** An outvoted node is better than none: what it shows alone is confirmed by a vote as ever, and reorganisations can outvote every honest node. */
  const candidates = (question: Question): Known[] => {
    const asked = awake(question)
    if (asked.length > 0) return asked
    const outvoted = known.filter(one => one.whole.reason === 'outvoted' && !rests(healthOf(one, question), clock()))
    return outvoted.sort((a, b) => a.whole.restUntil - b.whole.restUntil)
  }
  /** Asks them one after the other, the next one as soon as one refuses or takes long; the first answer counts. */
  const race = <T>(
    asked: readonly Known[],
    question: Question,
    work: Work<T>,
    reads: (one: Known) => void,
  ): Promise<{ one: Known; value: T }> =>
    new Promise((resolve, reject) => {
      const refusals = new Map<Known, RpcError>()
      let [next, running] = [0, 0]
      let timer: NodeJS.Timeout | undefined
      let isDone = false
      const end = (done: () => void) => {
        clearTimeout(timer)
        isDone = true
        done()
      }
      const won = (one: Known, value: T) => {
        if (isDone) return
        for (const [other, refusal] of refusals) refused(other, question, refusal)
        end(() => {
          reads(one)
          resolve({ one, value })
        })
      }
      const lost = () => {
        for (const [one, { kind }] of refusals) one.byQuestion.set(question, afterRefusal(healthOf(one, question), kind, clock()))
        unanswered(question)
        const all = [...refusals.values()]
        const [first] = all
        const isAlike = all.length === asked.length && all.every(({ kind }) => kind === first?.kind)
        const reasons = known.map(({ node, whole, byQuestion }) => {
          const reason = rests(whole, clock()) ? whole.reason : (byQuestion.get(question)?.reason ?? 'refuses')
          return `${node.name} ${reason}`
        })
        const none = new NoNodeError(`no RPC node answers «${question}» now: ${reasons.join(', ')}`, all)
        end(() => reject(isAlike && first && (first.kind === 'too_wide' || first.kind === 'beyond_head') ? first : none))
      }
      const askNext = () => {
        clearTimeout(timer)
        const one = asked[next++]
        if (isDone) return
        if (!one) {
          if (running === 0) lost()
          return
        }
        running += 1
        const startedAt = clock()
        if (next < asked.length) {
          const patience = patienceMs(
            fastest(
              asked.map(other => healthOf(other, question)),
              clock(),
            ),
          )
          timer = setTimeout(() => {
            one.byQuestion.set(question, afterSilence(healthOf(one, question), clock(), clock() - startedAt))
            askNext()
          }, patience)
        }
        attempt(one, question, work).then(
          done => {
            running -= 1
            if ('value' in done) return won(one, done.value)
            if (done.refusal && isOfTheQuestion(done.refusal)) refusals.set(one, done.refusal)
            if (!isDone) askNext()
          },
          error =>
            end(() => {
              reads(one)
              reject(error)
            }),
        )
      }
      askNext()
    })
  const preferred = (question: Question): Known[] => byPreference(candidates(question), one => healthOf(one, question), clock())
  const among = <T>(ones: readonly Known[], question: Question, work: Work<T>, enough: (values: T[]) => boolean): Promise<Vote<T>[]> =>
    new Promise(resolve => {
      const answers: Vote<T>[] = []
      const all = ones.map(async one => {
        const done = await attempt(one, question, work).catch(error => {
          logger.debug('an RPC node has no answer', { rpc: one.node.name, error })
          return { refusal: null }
        })
        if (!('value' in done)) return
        answers.push({ node: one.node, value: done.value })
        try {
          if (enough(answers.map(({ value }) => value))) resolve([...answers])
        } catch (error) {
          answers.splice(
            answers.findIndex(({ node }) => node === one.node),
            1,
          )
          rest(one, question, 'wrong_answer', `the answer cannot be compared: ${error}`)
        }
      })
      void Promise.all(all).then(() => {
        if (answers.length === 0) unanswered(question)
        resolve([...answers])
      })
    })

  return {
    async use(question, work) {
      const reads = ({ node }: Known) => {
        if (READING.includes(question)) inUse = node.name
      }
      return (await race(preferred(question), question, work, reads)).value
    },
    async useAnother(question, work) {
      const isInUse = ({ node }: Known) => node.name === inUse
      const asked = candidates(question)
      const others = asked.filter(one => !isInUse(one))
      const first = others.length === 0 ? 0 : turn++ % others.length
      const inTurn = [...others.slice(first), ...others.slice(0, first), ...asked.filter(isInUse)]
      return (await race(inTurn, question, work, () => undefined)).value
    },
    ballot: (question, work, enough) => among(awake(question), question, work, enough),
    vote: (question, work, enough) =>
      among(
        known.filter(one => mayVote(one.whole, clock())),
        question,
        work,
        enough,
      ),
    distrust(name, reason, message, question) {
      const one = named(name)
      if (one) rest(one, question, reason, message)
    },
    sawHead(name, head) {
      const one = named(name)
      if (one && head !== one.head) Object.assign(one, { head, headSince: clock() })
    },
    standingMs(name) {
      const one = named(name)
      return one && one.head >= 0 ? clock() - one.headSince : 0
    },
    silentMs: () => clock() - answeredAt,
    view: () => known.map(one => viewOf(one, one.node.name === inUse, clock())),
    answered: () => Object.fromEntries([...lastAnswerAt].map(([question, at]) => [question, Math.round(clock() - at) / 1_000])),
    unanswered: () => {
      const secondsOf = (question: Question) => {
        const asked = inVain.get(question)
        return asked && clock() - asked.last <= ASKED_LATELY_MS ? (clock() - asked.since) / 1_000 : 0
      }
      return Object.fromEntries(questions.map(question => [question, secondsOf(question)])) as Record<Question, number>
    },
    close: async () => {
      await Promise.all(nodes.map(node => node.close()))
    },
  }
}

function viewOf({ node, whole, byQuestion, head }: Known, isInUse: boolean, now: number): NodeView {
  const restingOf = (health: Health) => (rests(health, now) ? health.reason : null)
  return {
    name: node.name,
    in_use: isInUse,
    resting: restingOf(whole),
    head: head < 0 ? null : head,
    ...node.learned(),
    questions: Object.fromEntries(
      [...byQuestion].map(([question, health]) => [
        question,
        { ms: health.ms === null ? null : Math.round(health.ms), resting: restingOf(health), refused: health.reason },
      ]),
    ),
  }
}
