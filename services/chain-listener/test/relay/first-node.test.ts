import { type Fault, startFaultProxy } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import { type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

let world: RelayWorld
afterEach(() => world.stop())

const OF_STATE = ['eth_call', 'eth_getTransactionCount', 'eth_getBalance', 'eth_getCode']
let met = 0

const withoutState: Fault = {
  each({ method, params }, { id, jsonrpc }) {
    if (!OF_STATE.includes(method) || !/^0x/.test(String(params[1]))) return undefined
    met += 1
    return { id, jsonrpc, error: { code: -32000, message: 'missing trie node 5a0c (path ) state is not available' } }
  },
}
const answers = (result: string, methods: readonly string[]): Fault => ({
  each({ method }, { id, jsonrpc }) {
    if (!methods.includes(method)) return undefined
    met += 1
    return { id, jsonrpc, result }
  },
})
const keepsTransactions: Fault = {
  ask(call) {
    if (call.method !== 'eth_sendRawTransaction') return call
    met += 1
    return { ...call, method: 'eth_chainId', params: [] }
  },
}

it.each([
  ['without the state of older blocks', withoutState],
  ['whose answers cannot be read', answers('', [...OF_STATE, 'eth_estimateGas', 'eth_feeHistory', 'eth_maxPriorityFeePerGas'])],
  ['that has none of the contracts', answers('0x', ['eth_call'])],
  ['that takes transactions and keeps them to itself', keepsTransactions],
])('a first node %s stops neither sweeps nor signatures: the spare is asked', async (_, fault) => {
  world = await startRelayWorld()
  const spare = await startFaultProxy(world.chain.rpcUrl)
  try {
    met = 0
    world.proxy.set(fault)
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
    expect(met).toBeGreaterThan(0)
    expect(spare.log.join()).toMatch(/eth_call|eth_getTransactionCount/)
  } finally {
    await spare.stop()
  }
})
