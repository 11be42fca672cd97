import { startFaultProxy } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import { type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

let world: RelayWorld
afterEach(() => world.stop())

it('a first node without the state of older blocks stops neither sweeps nor signatures: the spare is asked', async () => {
  world = await startRelayWorld()
  const spare = await startFaultProxy(world.chain.rpcUrl)
  try {
    let refused = 0
    world.proxy.set({
      each({ method, params }, { id, jsonrpc }) {
        const isOfState = ['eth_call', 'eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'].includes(method)
        if (!isOfState || !/^0x/.test(String(params[1]))) return undefined
        refused += 1
        return { id, jsonrpc, error: { code: -32000, message: 'missing trie node 5a0c (path ) state is not available' } }
      },
    })
    const listening = await world.start({ ...TAKING, RPC_URLS: `${world.proxy.url},${spare.url}`, RPC_QUORUM: '1' })
    const swept = await world.open(listening)
    await world.pay(swept.address, AMOUNT)
    await listening.until(async () => (await world.received(swept.memo)).length === 1, 'it was not swept')
    const payer = Wallet.createRandom()
    await world.chain.mintUsdc(payer.address, AMOUNT)
    const signed = await world.open(listening)
    expect(await authorize(world, listening, signed, new Wallet(payer.privateKey))).toMatchObject({ status: 202 })
    await listening.until(async () => (await world.received(signed.memo)).length === 1, 'the signature was not submitted')
    const outcomes = async () => (await listening.sql.query<{ outcome: string }>('SELECT outcome FROM relays')).rows.map(row => row.outcome)
    await listening.until(async () => (await outcomes()).join() === 'done,done', 'what became of them is not known')
    expect([await world.received(swept.memo), await world.received(signed.memo)]).toEqual([[SHARE], [SHARE]])
    expect(refused).toBeGreaterThan(0)
    expect(spare.log.join()).toMatch(/eth_call|eth_getTransactionCount/)
  } finally {
    await spare.stop()
  }
})
