import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { startHttpServer } from '../http-server'

interface Call {
  id: number
  method: string
  params: unknown[]
}

interface Answer {
  id: number
  jsonrpc: '2.0'
  result?: unknown
  error?: { code: number; message: string }
}

/** A fault of one HTTP request: of the whole of it, or of its single answers. */
export interface Fault {
  /** Answers the request in its own way; answer `true` when it did. */
  whole?(calls: Call[], response: ServerResponse): boolean | Promise<boolean>
  /** Changes one answer on its way back; `undefined` leaves it. */
  each?(call: Call, answer: Answer): Answer | undefined
  /** Changes a question on its way in. */
  ask?(call: Call): Call
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

/** A JSON-RPC proxy before a node that does to answers whatever real providers do. */
export async function startFaultProxy(url: string) {
  let target = url
  let fault: Fault = {}
  const log: string[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const parsed: Call | Call[] = JSON.parse(await text(request))
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    log.push(calls.map(call => call.method).join())
    const { whole, each, ask } = fault
    if (await whole?.(calls, response)) return
    const asked = calls.map(call => ask?.(call) ?? call)
    const upstream = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) })
    const answers = (await upstream.json()) as Answer[]
    const changed = answers.map(answer => {
      const call = calls.find(({ id }) => id === answer.id)
      return (call && each?.(call, answer)) ?? answer
    })
    send(response, 200, JSON.stringify(Array.isArray(parsed) ? changed : changed[0]))
  }
  const server = await startHttpServer(handle)
  return {
    url: server.url,
    log,
    /** Replaces what goes wrong; nothing does without an argument. */
    set(next: Fault = {}) {
      fault = next
    },
    /** Stands before another node from now on. */
    redirect(url: string) {
      target = url
    },
    stop: server.stop,
  }
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  return true
}

const refuse = (answer: Answer, code: number, message: string): Answer => ({ id: answer.id, jsonrpc: '2.0', error: { code, message } })
const width = ({ params: [filter] }: Call) => {
  const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string }
  return fromBlock === undefined ? 1 : Number(toBlock) - Number(fromBlock) + 1
}
const isLogs = (call: Call) => call.method === 'eth_getLogs'

/** Everything that providers were seen to do, by name. */
export const faults = {
  status: (status: number, body = 'nope', headers: Record<string, string> = {}): Fault => ({
    whole: (_calls, response) => send(response, status, body, headers),
  }),
  /** Takes the request and never answers. */
  silence: (): Fault => ({ whole: () => true }),
  /** Sends a byte now and then, for ever. */
  drip: (): Fault => ({
    whole: (_calls, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = () => {
        if (response.destroyed) return
        response.write(' ')
        setTimeout(drip, 20)
      }
      drip()
      return true
    },
  }),
  hangUp: (): Fault => ({
    whole: (_calls, response) => {
      response.destroy()
      return true
    },
  }),
  truncated: (): Fault => ({ whole: (_calls, response) => send(response, 200, '[{"jsonrpc":"2.0","id":0,"result":{"number":"0x') }),
  notJson: (): Fault => ({ whole: (_calls, response) => send(response, 200, '<html>welcome</html>') }),
  missingAnswers: (): Fault => ({ whole: (_calls, response) => send(response, 200, '[]') }),
  batchRefused: (code: number, message: string): Fault => ({
    whole: (_calls, response) => send(response, 200, JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })),
  }),
  huge: (bytes: number): Fault => ({ whole: (_calls, response) => send(response, 200, `"${'x'.repeat(bytes)}"`) }),
  /** Refuses ranges above a number of blocks, or of logs, in a provider's own words. */
  tooManyBlocks: (limit: number, code: number, message: string): Fault => ({
    each: (call, answer) => (isLogs(call) && width(call) > limit ? refuse(answer, code, message) : undefined),
  }),
  tooManyLogs: (limit: number, code: number, message: string): Fault => ({
    each: (call, answer) =>
      isLogs(call) && Array.isArray(answer.result) && answer.result.length > limit ? refuse(answer, code, message) : undefined,
  }),
  wrongChain: (chainId: number): Fault => ({
    each: (call, answer) => (call.method === 'eth_chainId' ? { ...answer, result: `0x${chainId.toString(16)}` } : undefined),
  }),
  /** Answers as a node that knows nothing above a block: no such block, no logs, and no error for them. */
  lagging: (height: () => number): Fault => ({
    ask: call => {
      if (call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest') return { ...call, params: [hex(height()), false] }
      return call
    },
    each: (call, answer) => {
      if (call.method === 'eth_getBlockByNumber' && Number(call.params[0]) > height()) return { ...answer, result: null }
      if (!isLogs(call) || !Array.isArray(answer.result)) return undefined
      const logs = answer.result as { blockNumber: string }[]
      return { ...answer, result: logs.filter(log => Number(log.blockNumber) <= height()) }
    },
  }),
  /** Shows every header and hides every log. */
  emptyLogs: (): Fault => ({ each: (call, answer) => (isLogs(call) ? { ...answer, result: [] } : undefined) }),
  lyingHeaders: (change: (header: Record<string, unknown>) => Record<string, unknown>): Fault => ({
    each: (call, answer) =>
      /^eth_getBlockBy(Number|Hash)$/.test(call.method) && answer.result
        ? { ...answer, result: change(answer.result as Record<string, unknown>) }
        : undefined,
  }),
  /** Gives every block and every log another time. */
  movedTime: (seconds: number): Fault => ({
    each: (call, answer) => {
      const moved = (time: unknown) => hex(Number(time) + seconds)
      if (/^eth_getBlockBy(Number|Hash)$/.test(call.method) && answer.result) {
        const header = answer.result as Record<string, unknown>
        return { ...answer, result: { ...header, timestamp: moved(header.timestamp) } }
      }
      if (!isLogs(call) || !Array.isArray(answer.result)) return undefined
      const logs = answer.result as Record<string, unknown>[]
      return { ...answer, result: logs.map(log => ({ ...log, blockTimestamp: moved(log.blockTimestamp) })) }
    },
  }),
  lyingReceipts: (change: (receipts: Record<string, unknown>[]) => unknown): Fault => ({
    each: (call, answer) =>
      call.method === 'eth_getBlockReceipts' && Array.isArray(answer.result)
        ? { ...answer, result: change(answer.result as Record<string, unknown>[]) }
        : undefined,
  }),
  omittedLogs: (): Fault => ({
    each: (call, answer) =>
      isLogs(call) && Array.isArray(answer.result) && answer.result.length > 1
        ? { ...answer, result: answer.result.slice(0, -1) }
        : undefined,
  }),
  /** All of these, the first that changes an answer before the others. */
  together: (...several: Fault[]): Fault => ({
    each: (call, answer) => {
      for (const { each } of several) {
        const changed = each?.(call, answer)
        if (changed) return changed
      }
      return undefined
    },
  }),
  lyingLogs: (change: (log: Record<string, unknown>) => unknown[]): Fault => ({
    each: (call, answer) =>
      isLogs(call) && Array.isArray(answer.result)
        ? { ...answer, result: answer.result.flatMap(log => change(log as Record<string, unknown>)) }
        : undefined,
  }),
}

const hex = (number: number) => `0x${number.toString(16)}`
