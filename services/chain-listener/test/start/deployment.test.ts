import { type FaultProxy, faults, type LocalChain, mined, startFaultProxy, startLocalChain, testAccounts } from '@ponte/local-servers'
import { readConfig } from '@ponte/service-kit'
import { chainListenerConfig, relayerConfig } from '../../src'
import { type Listening, startListener } from '../setup'

const ELSEWHERE = `0x${'0b'.repeat(20)}`

let chain: LocalChain
let proxies: FaultProxy[]
let listening: Listening | undefined
beforeAll(async () => {
  chain = await startLocalChain()
})
beforeEach(async () => {
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy(chain.rpcUrl)))
})
afterEach(async () => {
  await listening?.stop()
  listening = undefined
  await Promise.all(proxies.map(proxy => proxy.stop()))
})
afterAll(() => chain.stop())

const start = async (env: Record<string, string> = {}, nodes = 1) => {
  listening = await startListener({
    rpcUrls: proxies.slice(0, nodes).map(({ url }) => url),
    router: chain.routerAddress,
    env: { TOKEN_ADDRESS: chain.usdcAddress, VERIFY_DEPLOYMENT: 'true', LEADER_SILENCE_MS: '500', RPC_TIMEOUT_MS: '500', ...env },
  })
  return listening
}
const role = async () => (await listening?.listener.status())?.role
const leads = () => listening?.until(async () => (await role()) === 'leader', 'it never led')

describe('the start', () => {
  it('goes on when chain, token and routers are as configured', async () => {
    await start({ FEE_RECEIVERS: `${ELSEWHERE},${chain.feeReceiver}`, FEES_BPS: `50,${chain.feeBps}` }, 3)
    await leads()
  })

  it.each<[string, () => Record<string, string>, string]>([
    ['another token', () => ({ TOKEN_ADDRESS: ELSEWHERE }), "the router's token is 0x"],
    ['a contract that is no router', () => ({ ROUTER_ADDRESSES: chain.rateFeedAddress }), 'is not that of the router'],
    ['a second router that does not stand', () => ({ ROUTER_ADDRESSES: `${chain.routerAddress},${ELSEWHERE}` }), 'no router stands at'],
    ['another fee receiver', () => ({ FEE_RECEIVERS: ELSEWHERE }), "the router's fee receiver is"],
    ['another fee', () => ({ FEES_BPS: '50,99' }), "the router's fee in basis points is 100, not 50 or 99"],
    ['another chain', () => ({ CHAIN_ID: '31338' }), 'the node is of chain 31337'],
  ])('is refused for %s, and reports it', async (_, env, sentence) => {
    await expect(start(env())).rejects.toThrow(sentence)
  })

  const syncing = {
    each: (call: { method: string }, answer: { id: number; jsonrpc: '2.0' }) =>
      call.method === 'eth_call' ? { ...answer, result: '0x' } : undefined,
  }

  it('waits for both nodes of two to find the same, as one that differs may be syncing', async () => {
    proxies[1]?.set(syncing)
    await start({}, 2)
    expect(await role()).toBe('standby')
    expect((await listening?.listener.status())?.halted).toBeNull()
    proxies[1]?.set()
    await leads()
  })

  it('goes on where most of three find the same, and is refused where two find something else', async () => {
    proxies[1]?.set(syncing)
    await start({}, 3)
    await leads()
    await listening?.stop()
    listening = undefined
    proxies[2]?.set(syncing)
    await expect(start({}, 3)).rejects.toThrow('opcodes')
  })

  it('does not wait for a chain that cannot be reached; the replica leads once it was verified', async () => {
    proxies[0]?.set(faults.hangUp())
    await start()
    expect(await role()).toBe('standby')
    proxies[0]?.set()
    await leads()
  })

  it('halts the listener, which stays up, when what it could not reach turns out to be something else', async () => {
    proxies[0]?.set(faults.hangUp())
    await start({ TOKEN_ADDRESS: ELSEWHERE })
    proxies[0]?.set()
    const halted = async () => (await listening?.listener.status())?.halted
    await listening?.until(async () => (await halted()) !== null, 'it never noticed')
    expect(await halted()).toContain("the router's token is")
    expect((await listening?.fetch('/readyz'))?.status).toBe(503)
    expect(await role()).toBe('standby')
  })
})

describe('settings', () => {
  const read =
    (env: Record<string, string>, config: typeof chainListenerConfig = chainListenerConfig) =>
    () =>
      readConfig(config, {
        ...{ DATABASE_URL: 'postgres://x', AMQP_URL: 'amqp://x', RPC_URLS: 'http://127.0.0.1:1', ROUTER_ADDRESSES: ELSEWHERE },
        ...{ CHAIN_ID: '8453', TOKEN_ADDRESS: ELSEWHERE, FEE_RECEIVERS: ELSEWHERE, FEES_BPS: '100', ...env },
      })

  it.each([
    ['a main net as a development chain', { DEVELOPMENT_CHAIN: 'true' }, 'DEVELOPMENT_CHAIN'],
    ['a test network as a live deployment', { CHAIN_ID: '84532' }, 'PONTE_MODE: must be test'],
    ['a main net as a deployment for tests', { PONTE_MODE: 'test' }, 'PONTE_MODE: must be live'],
    ['one node named twice', { RPC_URLS: 'http://127.0.0.1:1,http://127.0.0.1:1/' }, 'RPC_URLS: must name each end point once'],
    ['no verification of a real chain', { VERIFY_DEPLOYMENT: 'false' }, 'VERIFY_DEPLOYMENT'],
    ['no fee receivers on a real chain', { FEE_RECEIVERS: '' }, 'FEE_RECEIVERS'],
    ['no fees on a real chain', { FEES_BPS: '' }, 'FEES_BPS'],
    ['a fee that no router takes', { FEES_BPS: '100,1001' }, 'FEES_BPS'],
    ['a public key for sweeps', { COIN_USDC: '1', RELAYER_PRIVATE_KEY: testAccounts[4].privateKey }, 'RELAYER_PRIVATE_KEY: is the public'],
    [
      'a public key for signatures',
      { COIN_USDC: '1', GASLESS_PRIVATE_KEY: testAccounts[9].privateKey },
      'GASLESS_PRIVATE_KEY: is the public',
    ],
  ])('with %s are refused', (_, env, name) => {
    expect(read({})).not.toThrow()
    expect(read(env)).toThrow(name)
  })

  it('of a relayer of its own without an account are refused', () => {
    const relayer = (env: Record<string, string>) => read({ RELAYER_PROCESS: 'own', COIN_USDC: '1', ...env }, relayerConfig)
    expect(relayer({})).toThrow('RELAYER_KMS_KEY')
    for (const account of ['RELAYER', 'GASLESS']) expect(relayer({ [`${account}_KMS_KEY`]: 'alias/ponte' })).not.toThrow()
  })
})

describe('after the start', () => {
  const answers = (result: string) => ({
    each: (call: { method: string }, answer: { id: number; jsonrpc: '2.0' }) =>
      call.method === 'eth_call' ? { ...answer, result } : undefined,
  })

  it.each(['0x', `0x${'f'.repeat(64)}`])(
    'fault: a node that answers %s for the fee stops no scan, and its number is believed nowhere',
    async result => {
      const { published, until, sql, idle } = await start({ MONITOR_EVERY_S: '3600', RECONCILE_EVERY_S: '3600' })
      await leads()
      proxies[0]?.set(answers(result))
      const payer = chain.wallet(3)
      const [memo, amount] = [`0x${(result.length + 7).toString(16).padStart(64, '0')}`, 2_000_000n]
      await mined(chain.mintUsdc(payer.address, amount))
      await mined(chain.pay(payer, { memo, merchant: ELSEWHERE, amount }))
      await until(
        () => published.payments().some(({ type, data }) => type === 'payment.confirmed' && `0x${data.memo}` === memo),
        'the scan stands',
      )
      const { rows } = await sql.query('SELECT amount FROM payments WHERE memo = $1', [memo.slice(2)])
      expect(rows).toEqual([{ amount: String(amount) }])
      proxies[0]?.set()
      await idle()
    },
  )
})
