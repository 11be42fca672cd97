import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { type Chain, memoOf, startChain } from '../chain'
import { type Listening, startListener } from '../setup'

/** Every memo of these has exactly one confirmed payment, published once per step. */
function expectWhole(listening: Listening, memos: readonly string[]) {
  const payments = listening.published.payments()
  const confirmed = payments.filter(event => event.type === 'payment.confirmed').map(event => event.data.memo)
  expect(confirmed.toSorted()).toEqual([...memos].toSorted())
}

describe('an RPC end point that fails', () => {
  let chain: Chain
  let proxy: FaultProxy
  let spare: FaultProxy
  let listening: Listening
  let memos: string[] = []

  const start = async (options: { spare?: boolean; blocks?: number; env?: Record<string, string> } = {}) => {
    for (let n = 0; n < (options.blocks ?? 0); n++) await pay()
    listening = await startListener({
      rpcUrls: options.spare ? [proxy.url, spare.url] : proxy.url,
      router: chain.emitter,
      // One suffices here: of two that must agree, one that is away would hold up what is confirmed.
      env: { RPC_TIMEOUT_MS: '300', HEAD_STALL_MS: '400', REORG_WINDOW: '4', RPC_QUORUM: '1', ...options.env },
    })
  }
  const pay = async () => {
    const memo = memoOf(memos.length + 1)
    memos.push(memo)
    await chain.pay([{ memo }])
    await chain.mine()
  }
  const level = async () => {
    const height = await chain.height()
    await listening.until(async () => Number((await listening.cursor())?.scanned_number) === height, 'the scan never came to the head')
    await listening.idle()
  }
  const failOvers = async () =>
    (await (await listening.fetch('/metrics')).text()).match(/^ponte_chain_rpc_failovers_total.* [1-9]\d*$/gm) ?? []

  beforeEach(async () => {
    chain = await startChain()
    proxy = await startFaultProxy(chain.anvil.rpcUrl)
    spare = await startFaultProxy(chain.anvil.rpcUrl)
    memos = []
  })
  afterEach(async () => {
    await listening?.stop()
    await proxy.stop()
    await spare.stop()
    await chain.stop()
  })

  const passing: [name: string, fault: Fault, reason: string][] = [
    ['does not answer', faults.silence(), 'unavailable'],
    ['drips bytes for ever', faults.drip(), 'unavailable'],
    ['hangs up', faults.hangUp(), 'unavailable'],
    ['answers 429', faults.status(429, 'Too Many Requests'), 'rate_limited'],
    ['answers 500', faults.status(500), 'unavailable'],
    ['answers 503', faults.status(503), 'unavailable'],
    ['sends half of its JSON', faults.truncated(), 'unavailable'],
    ['sends a page of HTML', faults.notJson(), 'unavailable'],
    ['leaves answers out of a batch', faults.missingAnswers(), 'wrong_answer'],
    ['refuses the batch', faults.batchRefused(-32603, 'Internal error'), 'other'],
    ['is of another chain', faults.wrongChain(1), 'wrong_chain'],
    ['sends logs of a router no one asked for', faults.lyingLogs(log => [{ ...log, address: `0x${'99'.repeat(20)}` }]), 'wrong_answer'],
    ['sends logs of another block', faults.lyingLogs(log => [{ ...log, blockHash: `0x${'99'.repeat(32)}` }]), 'wrong_answer'],
    ['sends logs twice', faults.lyingLogs(log => [log, log]), 'wrong_answer'],
    ['sends broken logs', faults.lyingLogs(log => [{ ...log, data: '0x' }]), 'wrong_answer'],
  ]
  it.each(passing)('loses and doubles nothing when the first of two %s, and counts it in its metrics', async (_name, fault, reason) => {
    await start({ spare: true })
    await pay()
    await level()
    proxy.set(fault)
    await pay()
    await pay()
    await level()
    proxy.set()
    await pay()
    await level()
    expectWhole(listening, memos)
    expect((await failOvers()).join()).toContain(`reason="${reason}"`)
  })

  it('waits for its only end point and goes on where it was', async () => {
    await start()
    for (const fault of [faults.silence(), faults.status(502), faults.truncated(), faults.status(429, 'slow down')]) {
      proxy.set(fault)
      await pay()
      await listening.until(async () => (await failOvers()).length > 0, 'no fault was met')
      proxy.set()
      await level()
    }
    expectWhole(listening, memos)
  })

  it('is named where each shows a higher head without the last block that was read', async () => {
    await start({ spare: true })
    await pay()
    await level()
    const last = `0x${(await chain.height()).toString(16)}`
    const lacking: Fault = {
      each: ({ method, params }, { id }) =>
        method === 'eth_getBlockByNumber' && params[0] === last ? { id, jsonrpc: '2.0', result: null } : undefined,
    }
    const unlinked = async () =>
      Number(/^ponte_chain_unlinked_seconds\S* (.*)$/m.exec(await (await listening.fetch('/metrics')).text())?.[1])
    expect(await unlinked()).toBe(0)
    for (const node of [proxy, spare]) node.set(lacking)
    await pay()
    await listening.until(async () => (await unlinked()) >= 1, 'it is not named')
    spare.set()
    await level()
    expect(await unlinked()).toBe(0)
    expectWhole(listening, memos)
  })

  const limits: [name: string, fault: Fault][] = [
    ['Infura', faults.tooManyLogs(5, -32005, 'query returned more than 10000 results')],
    [
      'Alchemy',
      faults.tooManyBlocks(
        7,
        -32600,
        'You can make eth_getLogs requests with up to a 7 block range. Based on your parameters, this block range should work: [0x1, 0x7]',
      ),
    ],
    ['QuickNode', faults.tooManyBlocks(5, -32614, 'eth_getLogs is limited to a 5 range')],
    ['Ankr', faults.tooManyBlocks(9, -32600, 'block range is too wide')],
    ['Chainstack', faults.tooManyBlocks(3, -32600, 'Block range limit exceeded. See more details at the documentation.')],
    ['Erigon', faults.tooManyBlocks(1, -32000, 'query timeout exceeded')],
  ]
  it.each(limits)('asks for less when %s states that it is too much, without leaving it', async (_name, fault) => {
    proxy.set(fault)
    await start({ blocks: 40, env: { RPC_TIMEOUT_MS: '10000' } })
    await level()
    expectWhole(listening, memos)
    expect(await failOvers()).toEqual([])
  })

  describe('a block so full that no node gives its logs', () => {
    const words = 'query returned more than 10000 results'
    const full = faults.together(faults.tooManyLogs(5, -32005, words), {
      each: ({ method }, { id }) =>
        method === 'eth_getBlockReceipts' ? { id, jsonrpc: '2.0', error: { code: -32008, message: 'Response is too big' } } : undefined,
    })
    const fill = async () => {
      const some = Array.from({ length: 6 }, (_, index) => memoOf(memos.length + 1 + index))
      memos.push(...some)
      for (const [index, memo] of some.entries()) await chain.pay([{ memo }], 1 + (index % 3))
      await chain.mine()
    }
    it.each([1, 2])('is read, and what is in it confirmed, near the head and below it, with %d end points', async count => {
      for (const one of [proxy, spare]) one.set(full)
      await fill()
      await start({ spare: count > 1, blocks: 12, env: { RPC_QUORUM: String(count), CONFIRMATIONS: '2' } })
      await level()
      await fill()
      await pay()
      await chain.mine(2)
      await level()
      expectWhole(listening, memos)
    })
  })

  it('confirms what has piled up although the voter bears less than the scan asks for', async () => {
    await start({ spare: true, env: { RPC_QUORUM: '2', REORG_WINDOW: '30', BLOCK_PROOF: 'voted' } })
    await pay()
    await level()
    spare.set(faults.hangUp())
    for (let n = 0; n < 12; n++) await pay()
    await listening.until(() => listening.published.types().filter(type => type === 'payment.detected').length > 10, 'not detected')
    spare.set(faults.tooManyBlocks(3, -32600, 'block range is too wide'))
    await level()
    expectWhole(listening, memos)
  })

  it('asks for less when an answer is larger than it may be', async () => {
    await start({ blocks: 60, env: { RPC_MAX_BYTES: '20000' } })
    await level()
    expectWhole(listening, memos)
  })

  it('never takes an empty answer from a node that lags', async () => {
    let height = 0
    await start({ spare: true, blocks: 3 })
    await level()
    height = await chain.height()
    proxy.set(faults.lagging(() => height))
    for (let n = 0; n < 12; n++) await pay()
    await level()
    expectWhole(listening, memos)
  })

  it('never takes an empty answer from its only node while that lags, and catches up with it', async () => {
    let height = 0
    await start({ blocks: 3 })
    await level()
    height = await chain.height()
    proxy.set(faults.lagging(() => height))
    for (let n = 0; n < 12; n++) await pay()
    for (; height < (await chain.height()); height++) await listening.idle()
    await level()
    expectWhole(listening, memos)
  })

  it('doubts an empty answer where the block states otherwise, alone and beside another node', async () => {
    await start()
    await level()
    let hidden = 1
    proxy.set({
      each: (call, answer) => (call.method === 'eth_getLogs' && hidden-- > 0 ? { ...answer, result: [] } : undefined),
    })
    await pay()
    await level()
    expectWhole(listening, memos)
    await listening.stop()
    proxy.set(faults.emptyLogs())
    await start({ spare: true })
    await level()
    await pay()
    await level()
    expect(listening.published.payments().map(event => event.data.memo)).toContain(memos.at(-1))
    expect((await failOvers()).join()).toContain('reason="wrong_answer"')
  })

  it('follows no one back in time', async () => {
    await start({ spare: true, blocks: 12 })
    await level()
    proxy.set(faults.lagging(() => 5))
    await pay()
    await level()
    expectWhole(listening, memos)
    expect(listening.published.types()).not.toContain('payment.orphaned')
  })

  it('leaves a node whose head stands still while another goes on', async () => {
    await start({ spare: true, blocks: 2 })
    await level()
    const height = await chain.height()
    proxy.set(faults.lagging(() => height))
    await pay()
    await level()
    expect((await failOvers()).join()).toContain('reason="stalled"')
    expectWhole(listening, memos)
  })

  describe('one of three that lies', () => {
    let third: FaultProxy
    beforeEach(async () => {
      third = await startFaultProxy(chain.anvil.rpcUrl)
    })
    afterEach(() => third.stop())

    const lies: [name: string, fault: Fault][] = [
      ['hides payments', faults.emptyLogs()],
      ['invents payments', faults.lyingLogs(log => [log, { ...log, logIndex: '0x99', transactionHash: `0x${'77'.repeat(32)}` }])],
      ['changes amounts', faults.lyingLogs(log => [{ ...log, data: `0x${'ff'.repeat(64)}` }])],
    ]
    it.each(lies)('and %s confirms nothing that is not so, and hides nothing that is', async (_name, fault) => {
      proxy.set(fault)
      for (let n = 0; n < 12; n++) await pay()
      listening = await startListener({
        rpcUrls: [proxy.url, spare.url, third.url],
        router: chain.emitter,
        env: { RPC_TIMEOUT_MS: '500', REORG_WINDOW: '4', CONFIRMATIONS: '2' },
      })
      await level()
      for (let n = 0; n < 3; n++) await pay()
      await chain.mine(2)
      await level()
      const confirmed = listening.published.payments().filter(event => event.type === 'payment.confirmed')
      expect(confirmed.map(event => [event.data.memo, event.data.amount]).toSorted()).toEqual(memos.map(memo => [memo, '1.000000']))
      const live = (await listening.payments()).filter(row => row.state !== 'orphaned')
      expect(live.map(row => row.memo).toSorted()).toEqual(memos.toSorted())
      expect((await failOvers()).join()).toContain('reason="outvoted"')
    })

    it('each in its turn stops nothing once all are honest again, although all were outvoted minutes ago', async () => {
      listening = await startListener({
        rpcUrls: [proxy.url, spare.url, third.url],
        router: chain.emitter,
        env: { RPC_TIMEOUT_MS: '500', REORG_WINDOW: '4', CONFIRMATIONS: '2', BLOCK_PROOF: 'voted' },
      })
      const outvoted = async () => ((await (await listening.fetch('/status')).text()).match(/"resting":"outvoted"/g) ?? []).length
      for (const [index, liar] of [proxy, spare, third].entries()) {
        liar.set(faults.movedTime(60))
        await listening.until(async () => {
          await pay()
          return (await outvoted()) > index
        }, 'the liar is not outvoted')
        liar.set()
      }
      expect(await outvoted()).toBe(3)
      await pay()
      await chain.mine(2)
      await level()
      expectWhole(listening, memos)
    })

    it('two that are dead stop confirming, not detecting', async () => {
      listening = await startListener({ rpcUrls: [proxy.url, spare.url, third.url], router: chain.emitter, env: { RPC_TIMEOUT_MS: '300' } })
      await pay()
      await level()
      spare.set(faults.status(503))
      third.set(faults.hangUp())
      await pay()
      await listening.until(() => listening.published.types().filter(type => type === 'payment.detected').length === 2, 'not detected')
      expect(listening.published.types().filter(type => type === 'payment.confirmed')).toHaveLength(1)
      spare.set()
      await level()
      expectWhole(listening, memos)
    })
  })
})
