import { type Fault, type FaultProxy, faults, startFaultProxy } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { until, uuidv7 } from '@ponte/service-kit'
import { getAddress } from 'ethers'
import { type Chain, memoOf, startChain } from '../chain'
import { depositWatch } from '../relay/relayer-setup'
import { type Listening, startListener } from '../setup'

const TEN_YEARS = 315_360_000
const INVENTED = `0x${'77'.repeat(32)}`

describe('a node whose answers are wrong', () => {
  let chain: Chain
  let proxies: FaultProxy[]
  let listening: Listening
  let memos: string[]
  const url = (index: number) => proxies[index]?.url ?? ''
  const lie = (fault?: Fault) => proxies[0]?.set(fault)
  const start = async (count: number, env: Record<string, string> = {}) => {
    listening = await startListener({
      rpcUrls: Array.from({ length: count }, (_, index) => url(index)),
      router: chain.emitter,
      env: { RPC_TIMEOUT_MS: '1000', REORG_WINDOW: '4', RECONCILE_EVERY_S: '1', ...env },
    })
  }
  const pay = async (count = 1) => {
    const paid = Array.from({ length: count }, (_, index) => memoOf(memos.length + 1 + index))
    memos.push(...paid)
    await chain.pay(paid.map(memo => ({ memo })))
    await chain.mine()
  }
  const scanned = () =>
    until(
      async () => Number((await listening.cursor())?.scanned_number) === (await chain.height()),
      async () => `the scan never came to the head: ${JSON.stringify(await listening.listener.status())}`,
      45_000,
    )
  const level = async () => {
    await scanned()
    await listening.idle()
  }
  const confirmed = () =>
    listening.published
      .payments()
      .filter(event => event.type === 'payment.confirmed')
      .map(event => event.data.memo)
      .toSorted()
  const advances = () => listening.published.advanced()
  const metric = async (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, 'm').exec(await (await listening.fetch('/metrics')).text())?.[1])
  const failOvers = async () =>
    (await (await listening.fetch('/metrics')).text()).match(/^ponte_chain_rpc_failovers_total.*$/gm)?.join() ?? ''

  beforeEach(async () => {
    chain = await startChain()
    proxies = [
      await startFaultProxy(chain.anvil.rpcUrl),
      await startFaultProxy(chain.anvil.rpcUrl),
      await startFaultProxy(chain.anvil.rpcUrl),
    ]
    memos = []
  })
  afterEach(async () => {
    await listening?.stop()
    for (const proxy of proxies) await proxy.stop()
    await chain.stop()
  })

  it.each<[string, number, Record<string, string>]>([
    ['ten years', TEN_YEARS, {}],
    ['ten years, with nothing but the vote', TEN_YEARS, { BLOCK_PROOF: 'voted', BLOCK_TIME_AHEAD_MAX_S: '999999999' }],
    ['a minute', 60, {}],
    ['a minute, with nothing but the vote', 60, { BLOCK_PROOF: 'voted' }],
  ])('fault: one of three that moves the time of blocks by %s moves neither chain time nor a payment', async (_name, seconds, env) => {
    lie(faults.movedTime(seconds))
    await pay()
    await start(3, { CONFIRMATIONS: '2', ...env })
    await pay()
    for (let n = 0; n < 8; n++) await chain.mine()
    await level()
    expect(confirmed()).toEqual(memos)
    const head = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
    const latest = Number(head.timestamp) * 1_000
    expect(advances().length).toBeGreaterThan(0)
    for (const { time } of advances()) expect(Date.parse(time)).toBeLessThanOrEqual(latest)
    for (const { data } of listening.published.payments()) expect(Date.parse(data.block_time)).toBeLessThanOrEqual(latest)
  })

  it('refuses a header ahead of our clock, and one behind its parent, from its only node too', async () => {
    await pay()
    await start(1, { BLOCK_TIME_AHEAD_MAX_S: '120', BLOCK_PROOF: 'voted' })
    await level()
    const before = (await listening.cursor())?.scanned_number
    for (const seconds of [300, -300]) {
      lie(faults.movedTime(seconds))
      await chain.mine()
      const distrusted = () => failOvers().then(text => text.includes('reason="wrong_answer"'))
      await listening.until(distrusted, 'the header was not refused')
      expect((await listening.cursor())?.scanned_number).toBe(before)
    }
    lie()
    await level()
    expect(confirmed()).toEqual(memos)
  })

  /** Adds a payment that no one made to whatever is asked for; the bloom of the block excludes it. */
  const invention = (emitter: string): Fault => ({
    each: (call, answer) => {
      if (call.method !== 'eth_getLogs' || !Array.isArray(answer.result)) return undefined
      const [filter] = call.params as { blockHash?: string; toBlock?: string }[]
      const known = blocks.find(({ hash, number }) => hash === filter?.blockHash || number === filter?.toBlock)
      const block = known ?? (filter?.blockHash ? { hash: filter.blockHash, number: next, timestamp: undefined } : undefined)
      if (!block) return undefined
      const log = {
        ...{ address: emitter, data: `0x${'0'.repeat(58)}0f4240${'0'.repeat(64)}`, logIndex: '0x99', removed: false },
        topics: [
          PAYMENT_RECEIVED_TOPIC,
          `0x${'ee'.repeat(32)}`,
          `0x${'0'.repeat(24)}${'aa'.repeat(20)}`,
          `0x${'0'.repeat(24)}${'bb'.repeat(20)}`,
        ],
        ...{ blockHash: block.hash, blockNumber: block.number, blockTimestamp: block.timestamp, transactionHash: INVENTED },
      }
      return { ...answer, result: [...answer.result, log] }
    },
  })
  let blocks: { hash: string; number: string; timestamp: string }[] = []
  let next = ''
  const empties = async (count: number) => {
    blocks = []
    for (let n = 0; n < count; n++) {
      await chain.mine()
      blocks.push(await chain.rpc('eth_getBlockByNumber', 'latest', false))
    }
  }

  /** Shows the logs of each block from the second time on that it is asked for them, as a node does that has not indexed them yet. */
  const hiddenAtFirst = (): Fault => {
    const asked = new Set<number>()
    return {
      each: ({ method, params: [filter] }, answer) => {
        const { fromBlock, toBlock } = Object(filter) as { fromBlock?: string; toBlock?: string }
        if (method !== 'eth_getLogs' || fromBlock === undefined || !Array.isArray(answer.result)) return undefined
        const result = answer.result.filter(({ blockNumber }) => asked.has(Number(blockNumber)))
        for (let block = Number(fromBlock); block <= Number(toBlock); block++) asked.add(block)
        return { ...answer, result }
      },
    }
  }
  const noticed = async () => /wrong_answer|outvoted/.test(await failOvers()) || (await metric('ponte_chain_votes_undecided_total')) > 0
  const isConfirmed = async () => (await listening.payments()).some(row => row.tx_hash === INVENTED && row.state === 'confirmed')

  it.each([1, 2])('fault: of %i, one that invents a payment where the bloom excludes it gets nothing confirmed in a range', async count => {
    await pay()
    await empties(12)
    lie(invention(chain.emitter))
    await start(count, { BLOCK_PROOF: 'voted' })
    await listening.until(noticed, 'nothing was noticed')
    lie()
    await level()
    expect([confirmed(), await isConfirmed()]).toEqual([memos, false])
  })

  it.each([1, 2])(
    'fault: of %i, one that invents a payment where the bloom excludes it gets nothing confirmed near the head',
    async count => {
      await start(count, { BLOCK_PROOF: 'voted' })
      await pay()
      await level()
      blocks = []
      next = `0x${((await chain.height()) + 1).toString(16)}`
      lie(invention(chain.emitter))
      await chain.mine()
      await listening.until(noticed, 'nothing was noticed')
      lie()
      await chain.mine()
      await level()
      expect([confirmed(), await isConfirmed()]).toEqual([memos, false])
    },
  )

  it('fault 5: the only node, with a field in its headers that no one knows and a payment that no one made, gets nothing false confirmed', async () => {
    const added = faults.lyingHeaders(one => ({ ...one, x: '0x1' }))
    const invented = faults.lyingLogs(log => [log, { ...log, logIndex: '0x99', transactionHash: INVENTED }])
    await pay()
    await chain.mine(12)
    lie(faults.together(added, invented))
    await start(1, { CONFIRMATIONS: '2' })
    await pay()
    await chain.mine(3)
    await level()
    expect([confirmed(), await isConfirmed()]).toEqual([memos, false])
    // Also near the head, where one node confirms what it shows at once.
    await listening.stop()
    await start(1, { CONFIRMATIONS: '1' })
    await pay()
    await level()
    expect([confirmed(), await isConfirmed()]).toEqual([memos, false])
    expect(await (await listening.fetch('/status')).json()).toMatchObject({ trust: { proof: 'proven', unproven: null } })
  })

  it('of two, both must agree on what is confirmed; while one is away nothing is', async () => {
    await start(2)
    await pay()
    await level()
    proxies[1]?.set(faults.status(503))
    await pay()
    await listening.until(async () => listening.published.types().filter(type => type === 'payment.detected').length > 0, 'not detected')
    expect(confirmed()).toEqual(memos.slice(0, 1))
    proxies[1]?.set()
    await level()
    expect(confirmed()).toEqual(memos)
  })

  it('one URL is trusted alone, and start-up and status report it', async () => {
    await start(1)
    const { trust } = (await (await listening.fetch('/status')).json()) as { trust: Record<string, unknown> }
    expect(trust).toEqual({ end_points: 1, quorum: 1, one_node_is_trusted: true, proof: 'proven', unproven: null })
    await listening.stop()
    await start(2)
    expect(await (await listening.fetch('/status')).json()).toMatchObject({ trust: { quorum: 2, one_node_is_trusted: false } })
  })

  it('fault 4: a log left out of a block whose receipts are read is there at once, from the only node too', async () => {
    await pay(3)
    await chain.mine(12)
    lie(faults.omittedLogs())
    await start(1, { RECONCILE_EVERY_S: '3600' })
    await pay(2)
    await level()
    expect(confirmed()).toEqual(memos)
  })

  it.each(['proven', 'voted'])('%s: a range that the only node answers without its logs once is not confirmed without them', async mode => {
    await pay(3)
    const block = await chain.height()
    await chain.mine(12)
    lie(hiddenAtFirst())
    await start(1, { RECONCILE_EVERY_S: '3600', BLOCK_PROOF: mode })
    await level()
    expect(confirmed()).toEqual(memos)
    const statements = listening.published.blocks().filter(({ advanced }) => advanced && advanced.from <= block && block <= advanced.to)
    expect(statements.map(({ payments }) => payments.map(({ memo }) => memo).toSorted())).toEqual([memos])
  })

  it('a block that the only node leaves out of a range both times is found by the reconciler, and published once', async () => {
    await pay(3)
    await chain.mine(12)
    lie(faults.emptyLogs())
    await start(1)
    await scanned()
    await listening.until(async () => (await metric('ponte_reconcile_differences')) >= 0, 'nothing was compared')
    expect(confirmed()).toEqual([])
    lie()
    await listening.until(() => confirmed().length === 3, 'what was missing did not come')
    await listening.until(async () => (await metric('ponte_reconcile_differences')) === 0, 'the difference stays')
    await level()
    expect(confirmed()).toEqual(memos)
  })

  it.each([
    [0, 1],
    [1, 2],
    [0, 2],
  ])('fault 4: a router payment that nodes %i and %i of three omit is found, near the head and below it', async (...omitting) => {
    for (const index of omitting) proxies[index]?.set(faults.emptyLogs())
    await pay(2)
    await chain.mine(12)
    await start(3, { CONFIRMATIONS: '2' })
    await pay(2)
    await chain.mine(3)
    await listening.until(() => confirmed().length === memos.length, 'what two leave out is not found', 30_000)
    expect(confirmed()).toEqual(memos)
  })

  it('fault 7: a second node without old logs holds back no time', async () => {
    await pay(2)
    await chain.mine(20)
    const old = await chain.height()
    proxies[1]?.set({
      each: ({ method, params }, answer) => {
        const { fromBlock, toBlock } = Object(params[0]) as { fromBlock?: string; toBlock?: string }
        return method === 'eth_getLogs' && fromBlock !== undefined && Number(toBlock) <= old ? { ...answer, result: [] } : undefined
      },
    })
    await start(2, { CONFIRMATIONS: '2' })
    await listening.until(() => confirmed().length === 2, 'what one node still has is not confirmed')
    await listening.until(async () => (await metric('ponte_reconcile_differences')) >= 0, 'nothing was compared')
    await pay()
    await chain.mine(3)
    await level()
    const head = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', `0x${((await chain.height()) - 1).toString(16)}`, false)
    const reached = () => advances().some(({ time }) => Date.parse(time) === Number(head.timestamp) * 1_000)
    await listening.until(reached, 'no time is announced')
    expect([confirmed(), await metric('ponte_reconcile_differences')]).toEqual([memos, 0])
  })

  it('what one node leaves out for good, the reconciler reads through the other', async () => {
    await pay(3)
    await chain.mine(12)
    lie(faults.omittedLogs())
    await start(2, { RPC_QUORUM: '1' })
    await listening.until(() => confirmed().length === 3, 'what was missing did not come')
    await listening.until(async () => (await metric('ponte_reconcile_differences')) === 0, 'the difference stays')
    expect(confirmed()).toEqual(memos)
  })

  it('a difference holds back the order that it names, and no other', async () => {
    await pay(2)
    await start(1)
    await level()
    const ids = memos.map(() => uuidv7())
    for (const [index, memo] of memos.entries()) {
      const event = depositWatch(
        { chainId: 31_337, routerAddress: getAddress(chain.emitter) },
        { id: ids[index] ?? '', memo, address: null, merchant: `0x${'aa'.repeat(20)}`, watchFrom: 0 },
      )
      void listening.bus.publish({ id: event.id, type: event.type, body: JSON.stringify(event) })
    }
    const throughs = (index: number) =>
      listening.published
        .blocks()
        .flatMap(({ watched }) => watched.flatMap(({ order_id, through }) => (order_id === ids[index] ? [through] : [])))
    await listening.until(() => throughs(0).length === 1 && throughs(1).length === 1, 'they are not watched')
    const set = (change: string) => listening.sql.query(`UPDATE payments SET amount = amount ${change} WHERE memo = $1`, [memos[1]])
    await set('+ 1')
    await listening.until(() => throughs(1).at(-1) === -1, 'the difference holds back nothing')
    const before = advances().length
    await pay()
    await level()
    expect([confirmed(), throughs(0).length]).toEqual([memos, 1])
    expect(advances().length).toBeGreaterThan(before)
    await set('- 1')
    await listening.until(() => (throughs(1).at(-1) ?? -1) >= 0, 'it is never watched again')
  })

  it('an operator has blocks read again: what is missing comes back, what is known is not published twice', async () => {
    await pay(2)
    await start(1, { RECONCILE_EVERY_S: '3600' })
    await level()
    await listening.sql.query('DELETE FROM payments WHERE memo = $1', [memos[1]])
    const asked = await fetch(`http://127.0.0.1:${listening.listener.ops.port()}/rescan?from_block=0&to_block=99999`, { method: 'POST' })
    expect([asked.status, (await listening.fetch('/rescan?')).status]).toEqual([202, 200])
    await listening.until(async () => (await listening.payments()).length === 2, 'it did not come back')
    await level()
    expect(await (await listening.fetch('/rescan')).json()).toEqual({ pending: null })
    // Said twice, of one payment.
    expect(confirmed()).toEqual(memos)
    const said = listening.published.blocks().flatMap(({ payments }) => payments.filter(({ memo }) => memo === memos[1]))
    expect([said.length, new Set(said.map(({ log_index }) => log_index)).size]).toEqual([2, 1])
    for (const wrong of ['', '?from_block=2&to_block=1', '?from_block=x&to_block=1'])
      expect((await fetch(`http://127.0.0.1:${listening.listener.ops.port()}/rescan${wrong}`, { method: 'POST' })).status).toBe(400)
  })

  describe('with proofs', () => {
    const cheats: [string, Fault][] = [
      ['hides every log', faults.emptyLogs()],
      ['leaves one log out', faults.omittedLogs()],
      ['invents a log', faults.lyingLogs(log => [log, { ...log, logIndex: '0x99', transactionHash: INVENTED }])],
      ['changes amounts', faults.lyingLogs(log => [{ ...log, data: `0x${'0'.repeat(58)}ffffff${'0'.repeat(64)}` }])],
      ['moves times', faults.movedTime(60)],
      [
        'changes logs and receipts alike',
        faults.together(
          faults.lyingLogs(log => [{ ...log, data: `0x${'0'.repeat(58)}ffffff${'0'.repeat(64)}` }]),
          faults.lyingReceipts(receipts =>
            receipts.map(receipt => ({
              ...receipt,
              logs: (receipt.logs as object[]).map(log => ({ ...log, data: `0x${'0'.repeat(58)}ffffff${'0'.repeat(64)}` })),
            })),
          ),
        ),
      ],
      ['answers for another block', faults.lyingReceipts(() => [])],
    ]
    it.each(cheats)('one of two that %s confirms nothing false, and hides nothing true', async (_name, fault) => {
      lie(fault)
      await pay(2)
      await chain.mine(8)
      await start(2, { BLOCK_PROOF: 'proven' })
      await pay(3)
      await level()
      expect(confirmed()).toEqual(memos)
    })
    it.each(cheats)('the only one that %s confirms nothing false', async (_name, fault) => {
      await pay(2)
      await chain.mine(8)
      lie(fault)
      await start(1, { BLOCK_PROOF: 'proven' })
      await listening.until(async () => /wrong_answer|outvoted|behind/.test(await failOvers()), 'nothing was noticed')
      // Its own receipts prove it, so it is confirmed all the same.
      for (const { data } of listening.published.payments()) expect([memos.includes(data.memo), data.amount]).toEqual([true, '1.000000'])
      lie()
      // A range read from it alone is found wanting by the reconciler, behind the scan.
      await listening.until(() => confirmed().length === memos.length, 'what was hidden did not come')
      await level()
      expect(confirmed()).toEqual(memos)
    })
    it.each([1, 2])(
      'of %i, a receipt too large for any answer keeps no payment of its block, and none after it, from being confirmed',
      async count => {
        const other = await chain.deploy()
        await start(count, { RPC_MAX_BYTES: '20000' })
        const records = Array.from({ length: 100 }, (_, index) => ({ memo: memoOf(900 + index) }))
        await chain.pay(records, 2, other)
        await pay()
        await pay()
        await level()
        expect(confirmed()).toEqual(memos)
        expect(await (await listening.fetch('/status')).json()).toMatchObject({
          trust: { proof: 'proven', unproven: expect.stringContaining('larger than') },
        })
      },
    )
    it('a node without receipts is asked for nothing that it has not: its answers are voted on, and the status gives the reason', async () => {
      for (const proxy of proxies)
        proxy.set({
          each: (call, { id, jsonrpc }) =>
            /Receipts?$/.test(call.method) ? { id, jsonrpc, error: { code: -32601, message: 'the method does not exist' } } : undefined,
        })
      await pay(2)
      await start(2, { BLOCK_PROOF: 'proven' })
      await level()
      expect(confirmed()).toEqual(memos)
      expect(await (await listening.fetch('/status')).json()).toMatchObject({
        trust: { proof: 'proven', unproven: expect.stringContaining('does not exist') },
      })
    })
  })
})
