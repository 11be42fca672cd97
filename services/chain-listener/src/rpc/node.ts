import { FetchRequest, type JsonRpcError, type JsonRpcPayload, JsonRpcProvider, type JsonRpcResult, Network } from 'ethers'
import { type Dispatcher, Pool } from 'undici'
import { RpcError, toRpcError } from './error'

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
  /** Asks everything in one request, so that one node answers it all in the same state. */
  ask(calls: readonly Call[]): Promise<Answer>
  /** The same for calls that may be refused each by itself, as a call that reverts is: a refusal is an answer here, not a failure. */
  outcomes(calls: readonly Call[]): Promise<Outcome[]>
  close(): Promise<void>
}

export interface NodeOptions {
  chainId: number
  timeoutMs: number
  maxBytes: number
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

export function openNode(url: string, index: number, options: NodeOptions): Node {
  const transport = openTransport(new URL(url), options)
  const provider = new UndiciProvider(transport, options.chainId)
  return {
    name: `${index + 1}:${new URL(url).host}`,
    provider,
    async ask(calls) {
      const startedAt = performance.now()
      const { responses, bytes } = await transport.post(calls.map(({ method, params }, id) => payload(id, method, params)))
      return { results: responses.map(resultOf), bytes, ms: performance.now() - startedAt }
    },
    async outcomes(calls) {
      const { responses } = await transport.post(calls.map(({ method, params }, id) => payload(id, method, params)))
      return responses.map(toOutcome)
    },
    async close() {
      provider.destroy()
      await transport.close()
    },
  }
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
        {},
        error,
      )
    }
  }
  return {
    close: () => pool.destroy(),
    async post(payloads) {
      const { status, text, retryAfterMs } = await send(JSON.stringify(payloads.length === 1 ? payloads[0] : payloads))
      const parsed = parse(text)
      if (status !== 200) throw toRpcError({ status, ...refusalIn(parsed, text) }, retryAfterMs)
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
    if (bytes > options.maxBytes) throw new RpcError('too_wide', `the answer is larger than ${options.maxBytes} bytes`)
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
    if (message) throw toRpcError({ ...(code === undefined ? {} : { code }), message })
    throw new RpcError('wrong_answer', 'the node did not answer everything it was asked')
  })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isResponse = (value: unknown): value is Response =>
  isObject(value) && typeof value.id === 'number' && ('result' in value || isObject(value.error))

function refusalIn(parsed: unknown, text: string): { code?: number; message: string } {
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : undefined
  if (!error) return { message: text.slice(0, 200) }
  return { ...(typeof error.code === 'number' ? { code: error.code } : {}), message: String(error.message ?? '') }
}

function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = Number(Array.isArray(header) ? header[0] : header)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 300) * 1_000 : undefined
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
