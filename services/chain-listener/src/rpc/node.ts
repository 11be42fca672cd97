import { FetchRequest, type JsonRpcError, type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult, Network } from 'ethers'
import { type Dispatcher, Pool } from 'undici'
import { type BatchLimit, createBatchLimit, inPieces } from './batch-limit'
import { classify, RpcError, suggestedCalls, toRpcError } from './error'
import { createRangeLimit, type RangeLimit } from './range-limit'

export interface Call {
  method: string
  params: readonly unknown[]
}

export interface Answer {
  results: unknown[]
  bytes: number
  ms: number
}

/** One RPC end point. Every failure is an RpcError whose kind decides what to do next. */
export interface Node {
  /** Position and host of its URL, never the path: that is where providers put their keys. */
  name: string
  /** ethers' view of the same end point and the same connections. */
  provider: JsonRpcProvider
  /** Asks everything, in as few requests as the node takes; what is asked last is answered together, in the same state. */
  ask(calls: readonly Call[]): Promise<Answer>
  /** The same for calls that may be refused each by itself, as a call that reverts is: a refusal is an answer here, not a failure. */
  outcomes(calls: readonly Call[]): Promise<Outcome[]>
  range(kind: string): RangeLimit
  /** For the status. */
  learned(): { calls_in_batch: number | null; blocks_in_range: Record<string, number> }
  close(): Promise<void>
}

export interface NodeOptions {
  chainId: number
  timeoutMs: number
  maxBytes: number
  rangeMax: number
  /** Connections kept to this end point. */
  connections?: number
}

/** A node's answer to one call. */
export type Outcome = { result: unknown } | { refusal: { code: number; message: string; data: unknown } }

type Response = JsonRpcResult | JsonRpcError

/**
 * ethers decodes every HTTP body in JavaScript, several times slower than the rest of the work. This provider keeps its face
 * and lets undici carry the requests: kept-alive connections, a deadline for the whole answer, and a limit to its size.
 */
class UndiciProvider extends JsonRpcProvider {
  readonly #transport: Transport

  constructor(transport: Transport, chainId: number) {
    // ethers is never to connect by itself; the address is only what its messages show. The network has no name that ethers knows, because it asks
    // a gas station for prices on some known ones.
    super(new FetchRequest('http://carried-by.undici'), new Network('chain', chainId), { staticNetwork: true, batchStallTime: 0 })
    this.#transport = transport
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    const payloads = Array.isArray(payload) ? payload : [payload]
    // ethers declares results only and looks for errors among them all the same.
    return (await this.#transport.post(payloads)).responses as JsonRpcResult[]
  }
}

/** Pieces of one question that are on their way at once. */
const PIECES_AT_ONCE = 4

export function openNode(url: string, index: number, options: NodeOptions): Node {
  const transport = openTransport(new URL(url), options)
  const provider = new UndiciProvider(transport, options.chainId)
  const batch = createBatchLimit(() => performance.now())
  const ranges = new Map<string, RangeLimit>()
  const askAll = async <T>(calls: readonly Call[], read: (response: Response) => T) => {
    const startedAt = performance.now()
    const pieces = inPieces(calls, batch.calls())
    const answers: { results: T[]; bytes: number }[] = []
    for (let first = 0; first < pieces.length; first += PIECES_AT_ONCE)
      answers.push(
        ...(await Promise.all(pieces.slice(first, first + PIECES_AT_ONCE).map(piece => askPiece(transport, batch, piece, read)))),
      )
    const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0)
    return { results: answers.flatMap(({ results }) => results), bytes, ms: performance.now() - startedAt }
  }
  return {
    name: `${index + 1}:${new URL(url).host}`,
    provider,
    ask: calls => askAll(calls, resultOf),
    outcomes: async calls => (await askAll(calls, toOutcome)).results,
    range(kind) {
      const known = ranges.get(kind) ?? createRangeLimit(options.rangeMax)
      ranges.set(kind, known)
      return known
    },
    learned: () => ({
      calls_in_batch: batch.view(),
      blocks_in_range: Object.fromEntries([...ranges].map(([kind, limit]) => [kind, limit.blocks()])),
    }),
    async close() {
      provider.destroy()
      await transport.close()
    },
  }
}

/** Asks these calls in one request, and in smaller ones when the node refuses so many: whatever it answers then, the size is kept. */
async function askPiece<T>(
  transport: Transport,
  batch: BatchLimit,
  calls: readonly Call[],
  read: (response: Response) => T,
): Promise<{ results: T[]; bytes: number }> {
  try {
    const { responses, bytes } = await transport.post(calls.map(({ method, params }, id) => payload(id, method, params)))
    for (const response of responses) if (calls.length > 1) demandNoBatchRefusal(response)
    return { results: responses.map(read), bytes }
  } catch (error) {
    if (calls.length === 1 || !isOfSize(error, calls)) throw error
    const size = batch.smaller(calls.length, error.kind === 'batch_refused' ? suggestedCalls(error.message) : undefined)
    const results: T[] = []
    let bytes = 0
    for (const piece of inPieces(calls, size)) {
      const answer = await askPiece(transport, batch, piece, read)
      results.push(...answer.results)
      bytes += answer.bytes
      if (!error.hints.oversize) batch.learned(size)
    }
    return { results, bytes }
  }
}

/** Some nodes answer as many calls as they take, and refuse each of the others by itself. */
function demandNoBatchRefusal(response: Response): void {
  if (!('error' in response)) return
  const refusal = { code: response.error.code, message: String(response.error.message) }
  if (classify(refusal) === 'batch_refused') throw toRpcError(refusal)
}

/**
 * A refusal that a smaller batch may not meet: public end points state the reason in many ways, with HTTP 200, 400, 413 or 500. An answer that is too large
 * for us comes in parts, too, unless logs make it so: then a smaller range is to be asked for.
 */
const isOfSize = (error: unknown, calls: readonly Call[]): error is RpcError => {
  if (!(error instanceof RpcError)) return false
  const { kind, hints } = error
  if (hints.oversize) return !calls.some(({ method }) => method === 'eth_getLogs')
  return kind === 'batch_refused' || (hints.whole === true && (kind === 'other' || hints.isOfBody === true))
}

const payload = (id: number, method: string, params: readonly unknown[]): JsonRpcPayload => ({
  id,
  method,
  params: [...params],
  jsonrpc: '2.0',
})

function resultOf(response: Response): unknown {
  if ('error' in response) throw toRpcError({ code: response.error.code, message: String(response.error.message) })
  return response.result
}

function toOutcome(response: Response): Outcome {
  if (!('error' in response)) return { result: response.result }
  const { code, message, data } = response.error
  return { refusal: { code, message: String(message), data } }
}

interface Transport {
  post(payloads: readonly JsonRpcPayload[]): Promise<{ responses: Response[]; bytes: number }>
  close(): Promise<void>
}

function openTransport(url: URL, options: NodeOptions): Transport {
  const pool = new Pool(url.origin, {
    connections: options.connections ?? 8,
    keepAliveTimeout: 60_000,
    connect: { timeout: options.timeoutMs },
  })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (url.username) {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  const send = async (body: string) => {
    // The deadline covers everything: undici's own timeouts begin anew with each byte that drips in.
    const signal = AbortSignal.timeout(options.timeoutMs)
    try {
      const answer = await pool.request({ method: 'POST', path: `${url.pathname}${url.search}`, headers, body, signal })
      return { status: answer.statusCode, retryAfterMs: retryAfter(answer.headers['retry-after']), text: await read(answer.body, options) }
    } catch (error) {
      if (error instanceof RpcError) throw error
      throw new RpcError(
        'unavailable',
        signal.aborted ? `no answer within ${options.timeoutMs} ms` : `no answer: ${reason(error)}`,
        { whole: true, timedOut: signal.aborted },
        error,
      )
    }
  }
  return {
    close: () => pool.destroy(),
    async post(payloads) {
      const { status, text, retryAfterMs } = await send(JSON.stringify(payloads.length === 1 ? payloads[0] : payloads))
      const parsed = parse(text)
      if (status !== 200) throw toRpcError({ status, ...refusalIn(parsed, text) }, { retryAfterMs, whole: true })
      if (parsed === undefined) throw new RpcError('unavailable', 'the answer is not whole JSON')
      return { responses: inOrder(parsed, payloads), bytes: text.length }
    },
  }
}

async function read(body: Dispatcher.ResponseData['body'], options: NodeOptions): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop destroys the stream.
    if (bytes > options.maxBytes) throw new RpcError('too_wide', `the answer is larger than ${options.maxBytes} bytes`, { oversize: true })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The answers in the order of the questions. A single error object in place of a batch is the answer to all of it. */
function inOrder(parsed: unknown, payloads: readonly JsonRpcPayload[]): Response[] {
  const responses = Array.isArray(parsed) ? parsed : [parsed]
  const byId = new Map(responses.filter(isResponse).map(response => [response.id, response]))
  return payloads.map(({ id }) => {
    const response = byId.get(id)
    if (response) return response
    const { code, message } = refusalIn(responses[0], '')
    if (message) throw toRpcError({ ...(code === undefined ? {} : { code }), message }, { whole: true })
    throw new RpcError('wrong_answer', 'the node did not answer everything it was asked')
  })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isResponse = (value: unknown): value is Response =>
  isObject(value) && typeof value.id === 'number' && ('result' in value || isObject(value.error))

function refusalIn(parsed: unknown, text: string): { code?: number; message: string } {
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : undefined
  if (!error) return { message: isObject(parsed) && typeof parsed.message === 'string' ? parsed.message : text.slice(0, 200) }
  return { ...(typeof error.code === 'number' ? { code: error.code } : {}), message: String(error.message ?? '') }
}

function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = Number(Array.isArray(header) ? header[0] : header)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 300) * 1_000 : undefined
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
