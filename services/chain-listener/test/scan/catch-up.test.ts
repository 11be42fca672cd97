import { faults, startFaultProxy } from '@ponte/local-servers'
import { type Logger, silentLogger, until } from '@ponte/service-kit'
import type { Status } from '../../src'
import { memoOf, startChain } from '../chain'
import { expectTruth, levelWith } from '../expect-truth'
import { startListener } from '../setup'

const metric = (text: string, name: string) => Number(new RegExp(`^${name}\\{[^}]*\\} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN)

/** A logger that remembers what was reported, by message. */
function listeningLogger(): Logger & { reported: { message: string; fields: Record<string, unknown> }[] } {
  const reported: { message: string; fields: Record<string, unknown> }[] = []
  const keep = (message: string, fields: Record<string, unknown> = {}) => void reported.push({ message, fields })
  const logger = { reported, error: keep, warn: keep, info: keep, debug: () => undefined, child: () => logger }
  return logger
}

const started: { stop(): Promise<unknown> }[] = []
/** Stops what the test started, newest first, also after a failure. */
const using = <T extends { stop(): Promise<unknown> }>(part: T): T => {
  started.push(part)
  return part
}
afterEach(async () => {
  for (let part = started.pop(); part; part = started.pop()) await part.stop()
})

describe('a start block far back', () => {
  it('is caught up with in batches, with blocks, percent and time left in log, status and metrics', async () => {
    const chain = using(await startChain())
    const proxy = using(await startFaultProxy(chain.anvil.rpcUrl))
    const logger = listeningLogger()
    for (let n = 1; n <= 12; n++) {
      await chain.pay([{ memo: memoOf(n) }])
      await chain.mine(20)
    }
    const height = await chain.height()
    // Slow enough to be watched.
    proxy.set({ whole: async () => new Promise(resolve => setTimeout(() => resolve(false), 15)) })
    const listening = using(
      await startListener({
        rpcUrls: proxy.url,
        router: chain.emitter,
        env: { RANGE_MAX: '10', REORG_WINDOW: '32', CONFIRMATIONS: '3', START_BLOCK: '2' },
        given: { logger },
      }),
    )
    await until(async () => (await listening.listener.status()).catch_up !== null, 'no progress was reported')
    const seen: number[] = []
    const estimates: unknown[] = []
    let [left, percent] = [0, 100]
    await until(async () => {
      const status = (await (await listening.fetch('/status')).json()) as Status
      if (status.catch_up) {
        seen.push(status.catch_up.percent)
        const { seconds_left, ...progress } = status.catch_up
        estimates.push(seconds_left)
        expect(progress).toEqual({ blocks_left: expect.any(Number), percent: expect.any(Number) })
        const text = await (await listening.fetch('/metrics')).text()
        left = Math.max(left, metric(text, 'ponte_chain_catch_up_blocks_left'))
        percent = Math.min(percent, metric(text, 'ponte_chain_catch_up_percent'))
      }
      return status.scanned_block === height
    }, 'the head was never reached')
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    // The first looks know no speed yet, and therefore no time.
    expect(estimates.filter(estimate => estimate !== null)).toContainEqual(expect.any(Number))
    expect(left).toBeGreaterThan(0)
    expect(percent).toBeLessThan(100)
    expect(logger.reported.filter(({ message }) => message === 'catching up').length).toBeGreaterThan(0)
    await levelWith(chain, listening)
    await expectTruth(chain, listening, 3)
    const status = await listening.listener.status()
    expect(status).toMatchObject({
      role: 'leader',
      halted: null,
      head_block: height,
      scanned_block: height,
      confirmed_block: height - 2,
      lag_blocks: 0,
    })
    expect(status.rpc).toMatchObject([
      { name: expect.stringMatching(/^1:127\.0\.0\.1/), in_use: true, resting: null, head: height, calls_in_batch: null },
    ])
  })
})

describe('a router that is added later', () => {
  it('is read from START_BLOCK on beside the scan, and what is known is not published twice', async () => {
    const chain = using(await startChain())
    const other = await chain.deploy()
    for (let n = 1; n <= 6; n++) {
      await chain.pay([{ memo: memoOf(n) }])
      await chain.pay([{ memo: memoOf(100 + n) }], 2, other)
      await chain.mine(15)
    }
    const first = using(
      await startListener({
        rpcUrls: chain.anvil.rpcUrl,
        router: chain.emitter,
        env: { CONFIRMATIONS: '3', REORG_WINDOW: '20' },
      }),
    )
    await levelWith(chain, first)
    expect(first.published.payments().filter(event => event.type === 'payment.confirmed')).toHaveLength(6)
    const second = using(
      await startListener({
        rpcUrls: chain.anvil.rpcUrl,
        router: `${chain.emitter},${other}`,
        databaseUrl: first.databaseUrl,
        env: { CONFIRMATIONS: '3', REORG_WINDOW: '20', RANGE_MAX: '7' },
        given: { logger: silentLogger },
      }),
    )
    await first.listener.stop()
    await chain.mine(1)
    await levelWith(chain, second)
    const memos = second.published
      .payments()
      .flatMap(({ type, data }) => (type === 'payment.confirmed' ? [Number.parseInt(data.memo, 16)] : []))
    expect(memos.toSorted((a, b) => a - b)).toEqual([101, 102, 103, 104, 105, 106])
    const versions = [first, second].map(({ published }) => published.blocks().map(({ version }) => version))
    expect(Math.min(...(versions[1] ?? []))).toBeGreaterThan(Math.max(...(versions[0] ?? [])))
  })
})

describe('a chain that has vanished', () => {
  it.each([
    ['begun anew and longer', 90],
    ['begun anew and shorter', 3],
  ])(
    '%s halts the listener, which stays up: unready, gauge 1, the reason in its status, and no lease to relay under',
    async (_name, blocks) => {
      const chain = using(await startChain())
      await chain.mine(60)
      const proxy = using(await startFaultProxy(chain.anvil.rpcUrl))
      const logger = listeningLogger()
      const listening = using(
        await startListener({
          rpcUrls: proxy.url,
          router: chain.emitter,
          env: { REORG_WINDOW: '10' },
          given: { logger },
        }),
      )
      await levelWith(chain, listening)
      const before = await listening.cursor()
      // Of another time, so that not even block 0 is the same.
      const anew = using(await startChain({ noMining: true, extraArgs: ['--timestamp', '1700000000'] }))
      await anew.mine(blocks)
      proxy.redirect(anew.anvil.rpcUrl)
      const status = async () => (await (await listening.fetch('/status')).json()) as Status
      await until(async () => (await status()).halted !== null, 'the scan did not stop')
      expect((await status()).halted).toContain('does not contain the blocks that were read before')
      expect((await status()).halted).toContain('Point RPC_URLS to the chain')
      expect((await listening.fetch('/readyz')).status).toBe(503)
      expect((await listening.fetch('/healthz')).status).toBe(200)
      expect(await (await listening.fetch('/metrics')).text()).toMatch(/^ponte_chain_halted\{[^}]*\} 1$/m)
      await until(async () => (await status()).role === 'standby', 'it kept the lease')
      await listening.idle()
      expect((await listening.cursor())?.scanned_number).toBe(before?.scanned_number)
    },
  )

  it('does not take a node that is still syncing for another chain', async () => {
    const chain = using(await startChain())
    await chain.mine(60)
    const proxy = using(await startFaultProxy(chain.anvil.rpcUrl))
    const listening = using(
      await startListener({
        rpcUrls: proxy.url,
        router: chain.emitter,
        env: { REORG_WINDOW: '10' },
      }),
    )
    await levelWith(chain, listening)
    proxy.set(faults.lagging(() => 7))
    await until(async () => (await listening.listener.status()).rpc[0]?.resting === 'behind', 'it was not left alone')
    proxy.set()
    await chain.pay([{ memo: memoOf(1) }])
    await chain.mine()
    await levelWith(chain, listening)
    expect((await listening.listener.status()).halted).toBeNull()
  })
})
