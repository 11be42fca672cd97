import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { type Chain, memoOf, startChain } from '../chain'
import { type Listening, startListener } from '../setup'

const CONFIRMATIONS = 5
const forgedHash = (number: number) => `0x${number.toString(16).padStart(64, 'f')}`

/** Shows blocks above a real one, each naming the one below it: a node needs no key to make them. */
function forgedAbove(real: Record<string, unknown>, above: number): Fault {
  const top = Number(real.number)
  const header = (number: number) => ({
    ...real,
    transactions: [],
    logsBloom: `0x${'0'.repeat(512)}`,
    number: `0x${number.toString(16)}`,
    hash: forgedHash(number),
    parentHash: number === top + 1 ? real.hash : forgedHash(number - 1),
    timestamp: `0x${(Number(real.timestamp) + number - top).toString(16)}`,
  })
  return {
    each: (call, { id, jsonrpc }) => {
      const [asked] = call.params as [string | { blockHash?: string }]
      if (call.method === 'eth_getLogs' && typeof asked === 'object' && asked.blockHash?.startsWith('0xfff'))
        return { id, jsonrpc, result: [] }
      if (call.method !== 'eth_getBlockByNumber') return undefined
      const number = asked === 'latest' ? top + above : Number(asked)
      return number > top && number <= top + above ? { id, jsonrpc, result: header(number) } : undefined
    },
  }
}

describe('how deep a payment lies', () => {
  let chain: Chain
  let proxies: FaultProxy[] = []
  let listening: Listening
  const states = () => listening.published.payments().map(({ type }) => type)

  beforeEach(async () => {
    chain = await startChain()
    proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy(chain.anvil.rpcUrl)))
  })
  afterEach(async () => {
    await listening?.stop()
    for (const proxy of proxies) await proxy.stop()
    await chain.stop()
  })
  const start = async () => {
    const env = { CONFIRMATIONS: String(CONFIRMATIONS), REORG_WINDOW: '5', BLOCK_PROOF: 'voted' }
    listening = await startListener({ rpcUrls: proxies.map(({ url }) => url), router: chain.emitter, env })
  }
  const scannedTo = (block: number) =>
    listening.until(async () => Number((await listening.cursor())?.scanned_number) === block, `block ${block} was not read`, 30_000)
  /** Several more turns have been done since. */
  const turns = async () => {
    const before = proxies[0]?.log.length ?? 0
    await listening.until(() => (proxies[0]?.log.length ?? 0) >= before + 4, 'nothing more was asked')
  }

  it.each([
    ['near the head', CONFIRMATIONS - 1],
    ['in a range that would be finalized', CONFIRMATIONS],
  ])('fault: of three, one that shows blocks above the head confirms nothing by them %s', async (_name, above) => {
    await chain.mine(12)
    await chain.pay([{ memo: memoOf(1) }])
    await chain.mine()
    const real = await chain.rpc<Record<string, unknown>>('eth_getBlockByNumber', 'latest', false)
    proxies[0]?.set(forgedAbove(real, above))
    await start()
    await scannedTo(Number(real.number) + above)
    await turns()
    expect(states()).toEqual(['payment.detected'])
    proxies[0]?.set()
    await chain.mine(CONFIRMATIONS)
    await scannedTo(await chain.height())
    await listening.idle()
    // A vote against the forged blocks may take back all that is unconfirmed, to be read again.
    expect(states().filter(type => type !== 'payment.orphaned')).toEqual(['payment.detected', 'payment.confirmed'])
    expect(states().at(-1)).toBe('payment.confirmed')
  })

  it('is what two of three have reached, while the third stands still or does not answer', async () => {
    await start()
    const standing = await chain.height()
    const failing = [faults.lagging(() => standing), faults.silence()]
    for (const [index, fault] of failing.entries()) {
      proxies[2]?.set(fault)
      await chain.pay([{ memo: memoOf(index + 1) }])
      await chain.mine(CONFIRMATIONS)
      const confirmed = () => states().filter(state => state === 'payment.confirmed').length
      await listening.until(() => confirmed() === index + 1, 'nothing is confirmed', 30_000)
    }
  })
})
