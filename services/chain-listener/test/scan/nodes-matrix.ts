import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { type Chain, memoOf, startChain } from '../chain'
import { type Listening, startListener } from '../setup'

/** The pace of production, which the set-up of tests would hasten. */
const PRODUCTION = { POLL_MS: '1000', ADVANCE_EVERY_MS: '1000', RPC_TIMEOUT_MS: '10000', RECONCILE_EVERY_S: '60' }
const POSITIONS = [0, 1, 2]
const DEADLINE_MS = 15_000
const INVENTED = `0x${'77'.repeat(32)}`

type Each = NonNullable<Fault['each']>
const isBlock = (call: Parameters<Each>[0]) => call.method === 'eth_getBlockByNumber'
const refuse = (methods: RegExp, code: number, message: string): Fault => ({
  each: ({ method }, { id, jsonrpc }) => (methods.test(method) ? { id, jsonrpc, error: { code, message } } : undefined),
})
const after = (ms: number): Fault => ({
  whole: () => new Promise<false>(resolve => setTimeout(() => resolve(false), ms)),
})
const header = (change: (header: Record<string, unknown>) => Record<string, unknown>) => faults.lyingHeaders(change)

/** Faults of one of three nodes; `since` is the height at which each begins. */
const matrix: [name: string, fault: (since: number, emitter: string) => Fault][] = [
  ['does not answer', () => faults.silence()],
  ['drips bytes', () => faults.drip()],
  ['hangs up', () => faults.hangUp()],
  ['answers HTTP 429', () => faults.status(429, 'Too Many Requests', { 'retry-after': '60' })],
  ['answers HTTP 500', () => faults.status(500)],
  ['answers HTTP 503', () => faults.status(503)],
  ['answers HTTP 403', () => faults.status(403, 'Forbidden')],
  ['sends half of its JSON', () => faults.truncated()],
  ['sends HTML', () => faults.notJson()],
  ['leaves answers out', () => faults.missingAnswers()],
  ['refuses every batch', () => faults.batchRefused(-32603, 'Internal error')],
  ['is of another chain', () => faults.wrongChain(1)],
  ['answers null for one block that it has passed', since => nullFor(number => number === since + 1)],
  ['answers null for every new block', since => nullFor(number => number > since)],
  ['stands still', since => faults.lagging(() => since)],
  ['takes five seconds for everything', () => after(5_000)],
  ['takes 1.2 seconds for everything', () => after(1_200)],
  ['takes five seconds for logs', () => slowFor(/eth_getLogs/, 5_000)],
  ['hides every log', () => faults.emptyLogs()],
  ['leaves the last log out', () => faults.omittedLogs()],
  ['invents a log', () => faults.lyingLogs(log => [log, { ...log, logIndex: '0x99', transactionHash: INVENTED }])],
  ['changes amounts', () => faults.lyingLogs(log => [{ ...log, data: `0x${'0'.repeat(58)}ffffff${'0'.repeat(64)}` }])],
  ['sends logs twice', () => faults.lyingLogs(log => [log, log])],
  ['sends logs of another block', () => faults.lyingLogs(log => [{ ...log, blockHash: `0x${'99'.repeat(32)}` }])],
  ['refuses logs', () => refuse(/eth_getLogs/, -32601, 'the method eth_getLogs does not exist')],
  ['refuses receipts', () => refuse(/Receipt/, -32601, 'the method does not exist')],
  ['lost its receipts', () => refuse(/Receipt/, 4444, 'Pruned history unavailable')],
  ['sends receipts of another block', () => faults.lyingReceipts(() => [])],
  [
    'changes receipts and logs alike',
    () =>
      faults.together(
        faults.lyingLogs(log => [{ ...log, data: `0x${'0'.repeat(58)}ffffff${'0'.repeat(64)}` }]),
        faults.lyingReceipts(receipts => receipts.map(one => ({ ...one, logs: [] }))),
      ),
  ],
  ['moves times', () => faults.movedTime(60)],
  ['adds a field to headers', () => header(one => ({ ...one, x: '0x1' }))],
  ['leaves a field of headers out', () => header(({ parentBeaconBlockRoot: _, requestsHash: __, ...one }) => one)],
  ['changes the root of receipts', () => header(one => ({ ...one, receiptsRoot: `0x${'11'.repeat(32)}` }))],
  ['shows blocks above the head', since => aboveHead(since)],
  [
    'invents a payment where the block has none',
    (_since, emitter) => ({
      each: ({ method, params }, answer) => {
        const { blockHash } = Object(params[0]) as { blockHash?: string }
        if (method !== 'eth_getLogs' || blockHash === undefined || !Array.isArray(answer.result) || answer.result.length > 0)
          return undefined
        const word = (byte: string) => `0x${'0'.repeat(24)}${byte.repeat(20)}`
        const log = {
          ...{ address: emitter, data: `0x${'0'.repeat(58)}0f4240${'0'.repeat(64)}`, logIndex: '0x0', removed: false, blockHash },
          ...{
            topics: [PAYMENT_RECEIVED_TOPIC, `0x${'ee'.repeat(32)}`, word('aa'), word('bb')],
            transactionHash: INVENTED,
            blockNumber: '0x1',
          },
        }
        return { ...answer, result: [log] }
      },
    }),
  ],
]

function nullFor(isMissing: (number: number) => boolean): Fault {
  return { each: (call, answer) => (isBlock(call) && isMissing(Number(call.params[0])) ? { ...answer, result: null } : undefined) }
}
function slowFor(methods: RegExp, ms: number): Fault {
  return {
    whole: calls =>
      calls.some(({ method }) => methods.test(method)) ? new Promise<false>(resolve => setTimeout(() => resolve(false), ms)) : false,
  }
}
/** Ten blocks more than there are, each naming the one before it. */
function aboveHead(since: number): Fault {
  const hash = (number: number) => `0x${number.toString(16).padStart(64, 'f')}`
  let top: Record<string, unknown> | undefined
  return {
    each(call, answer) {
      if (!isBlock(call)) return undefined
      const [asked] = call.params
      const real = answer.result as Record<string, unknown> | null
      if (real && Number(real.number) > since && (!top || Number(real.number) > Number(top.number))) top = real
      if (!top || (asked !== 'latest' && real)) return undefined
      const height = Number(top.number)
      const number = asked === 'latest' ? height + 10 : Number(asked)
      if (number <= height || number > height + 10) return undefined
      const parentHash = number === height + 1 ? top.hash : hash(number - 1)
      return { ...answer, result: { ...top, number: `0x${number.toString(16)}`, hash: hash(number), parentHash, transactions: [] } }
    },
  }
}

describe('one node of three is bad, at the pace of production', () => {
  let chain: Chain
  let proxies: FaultProxy[]
  const stops: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    chain = await startChain()
    await chain.mine(20)
  })
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })
  afterAll(() => chain.stop())

  const startAt = async (position: number): Promise<{ listening: Listening; bad: FaultProxy }> => {
    proxies = await Promise.all(POSITIONS.map(() => startFaultProxy(chain.anvil.rpcUrl)))
    const bad = proxies[position]
    const listening = await startListener({
      rpcUrls: proxies.map(({ url }) => url),
      router: chain.emitter,
      env: { ...PRODUCTION, CONFIRMATIONS: '2', START_BLOCK: String(await chain.height()) },
    })
    for (const { stop } of proxies) stops.unshift(stop)
    stops.unshift(listening.stop)
    if (!bad) throw new RangeError(`there is no node ${position}`)
    return { listening, bad }
  }

  it.each(matrix)(
    'fault 2: that %s: what two honest ones have is confirmed within 15 seconds, and nothing else ever',
    async (_name, fault) => {
      const worlds = await Promise.all(POSITIONS.map(startAt))
      const height = await chain.height()
      for (const { listening } of worlds)
        await listening.until(async () => Number((await listening.cursor())?.scanned_number) >= height, 'it never began', 30_000)
      for (const { bad } of worlds) bad.set(fault(height, chain.emitter))
      const memo = memoOf(1_000_000 + height)
      await chain.pay([{ memo }, { memo: memoOf(2_000_000 + height) }])
      await chain.mine(1)
      await chain.mine(3)
      const paidAt = performance.now()
      const confirmedOf = ({ published }: Listening) =>
        published.payments().flatMap(({ type, data }) => (type === 'payment.confirmed' ? [`${data.memo} ${data.amount}`] : []))
      const truth = [memo, memoOf(2_000_000 + height)].map(one => `${one} 1.000000`).toSorted()
      await Promise.all(
        worlds.map(({ listening }, position) =>
          until(
            () => confirmedOf(listening).length >= truth.length,
            async () => `the bad one at ${position}: ${JSON.stringify(await listening.listener.status())}`,
            DEADLINE_MS - (performance.now() - paidAt),
          ),
        ),
      )
      for (const { listening } of worlds) expect(confirmedOf(listening).toSorted()).toEqual(truth)
    },
  )
})
