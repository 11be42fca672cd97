import { startFaultProxy } from '@ponte/local-servers'
import { memoOf, startChain } from '../chain'
import { startListener, statesOf } from '../setup'

it('a reorganisation is followed through a node that takes ten calls at once and refuses more with HTTP 413', async () => {
  const chain = await startChain()
  const proxy = await startFaultProxy(chain.anvil.rpcUrl)
  let longest = 0
  proxy.set({
    whole(calls, response) {
      if (calls.length <= 10) {
        longest = Math.max(longest, calls.length)
        return false
      }
      response
        .writeHead(413, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'request entity too large' } }))
      return true
    },
  })
  await chain.mine(40)
  const listening = await startListener({ rpcUrls: proxy.url, router: chain.emitter, env: { CONFIRMATIONS: '30', REORG_WINDOW: '64' } })
  try {
    const level = async () => {
      const height = await chain.height()
      await listening.until(
        async () => Number((await listening.cursor())?.scanned_number) === height,
        async () => `the scan never came to the head: ${JSON.stringify(await listening.listener.status())}`,
      )
      await listening.idle()
    }
    await chain.pay([{ memo: memoOf(1) }])
    await chain.mine(25)
    await level()
    expect(statesOf(listening, memoOf(1))).toEqual(['detected'])
    await chain.rollback(25)
    await chain.pay([{ memo: memoOf(2) }])
    await chain.mine(35)
    await level()
    expect([statesOf(listening, memoOf(1)), statesOf(listening, memoOf(2))]).toEqual([['detected', 'orphaned'], ['confirmed']])
    // It halves what is refused without a number.
    expect(longest).toBeGreaterThan(4)
  } finally {
    await listening.stop()
    await proxy.stop()
    await chain.stop()
  }
})
