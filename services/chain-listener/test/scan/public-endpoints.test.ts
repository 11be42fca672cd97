import { type Fault, type FaultProxy, startFaultProxy } from '@ponte/local-servers'
import { type Chain, memoOf, startChain } from '../chain'
import { type Listening, startListener } from '../setup'

type Whole = NonNullable<Fault['whole']>
type Calls = Parameters<Whole>[0]

/** Refuses what a public end point refuses, as its users quote it, and answers the rest. */
const refusing = (status: number, body: object | string, isRefused: (calls: Calls) => boolean): Fault => ({
  whole(calls, response) {
    if (!isRefused(calls)) return false
    response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
    return true
  },
})
const error = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })
const widthOf = ([filter]: unknown[]) => {
  const { fromBlock, toBlock } = Object(filter) as { fromBlock?: string; toBlock?: string }
  return fromBlock === undefined ? 1 : Number(toBlock) - Number(fromBlock) + 1
}
const isWide = (most: number) => (calls: Calls) => calls.some(({ method, params }) => method === 'eth_getLogs' && widthOf(params) > most)
const isLong = (most: number) => (calls: Calls) => calls.length > most
/** The one that refuses first, of several. */
const first = (...several: Fault[]): Fault => ({
  whole(calls, response) {
    for (const { whole } of several) if (whole?.(calls, response) === true) return true
    return false
  },
})

const endPoints: [name: string, fault: Fault, batch: number | null][] = [
  ["Base's own: ten calls, refused with HTTP 200", refusing(200, error(-32014, 'maximum 10 calls in 1 batch'), isLong(10)), 10],
  ["OP's own: ten calls, refused with HTTP 413", refusing(413, error(-32600, 'request entity too large'), isLong(10)), null],
  [
    "dRPC's free one: three calls, refused with HTTP 500",
    refusing(
      500,
      { message: 'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account', code: 31 },
      isLong(3),
    ),
    3,
  ],
  ['one without batches', refusing(400, 'batch requests are not supported', isLong(1)), 1],
  ['geth with a limit', refusing(200, error(-32600, 'batch too large'), isLong(5)), null],
  ['Nethermind with a limit', refusing(200, error(-32005, 'Batch size limit exceeded'), isLong(7)), null],
  [
    'a free plan of ten blocks and 20 calls',
    first(
      refusing(200, error(-32600, 'batch limit exceeded, up to 20 calls'), isLong(20)),
      refusing(400, error(-32600, 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.'), isWide(10)),
    ),
    20,
  ],
  ['PublicNode: few blocks at once', refusing(200, error(-32701, 'exceed maximum block range: 50'), isWide(50)), null],
  [
    'one that answers the first ten of a batch and refuses each of the others',
    {
      each: ({ id }, { jsonrpc }) =>
        id >= 10 ? { id, jsonrpc, error: { code: -32014, message: 'maximum 10 calls in 1 batch' } } : undefined,
    },
    10,
  ],
]

describe('a public end point, from the first start to the head, with the shipped settings', () => {
  let chain: Chain
  let proxy: FaultProxy
  let listening: Listening
  beforeAll(async () => {
    chain = await startChain()
    // More than the window, so that both ranges and blocks are read.
    for (let n = 1; n <= 3; n++) {
      await chain.pay([{ memo: memoOf(n) }])
      await chain.mine(100)
    }
  })
  beforeEach(async () => {
    proxy = await startFaultProxy(chain.anvil.rpcUrl)
  })
  afterEach(async () => {
    await listening.stop()
    await proxy.stop()
  })
  afterAll(() => chain.stop())

  it.each(endPoints)('fault 3: %s', async (_name, fault, batch) => {
    proxy.set(fault)
    // The pace of production, which the set-up of tests would hasten.
    const production = { POLL_MS: '1000', ADVANCE_EVERY_MS: '1000', RPC_TIMEOUT_MS: '10000' }
    listening = await startListener({ rpcUrls: proxy.url, router: chain.emitter, env: { ...production, CONFIRMATIONS: '12' } })
    const height = await chain.height()
    await listening.until(
      async () => Number((await listening.cursor())?.confirmed_number) === height - 11,
      async () => `the head was never reached: ${JSON.stringify(await listening.listener.status())}`,
      30_000,
    )
    const memos = listening.published.payments().flatMap(({ type, data }) => (type === 'payment.confirmed' ? [data.memo] : []))
    expect(memos.toSorted()).toEqual([1, 2, 3].map(memoOf))
    const [node] = (await listening.listener.status()).rpc
    if (batch !== null) expect(node?.calls_in_batch).toBe(batch)
    else expect(node?.calls_in_batch ?? 100).toBeGreaterThan(0)
  })
})
