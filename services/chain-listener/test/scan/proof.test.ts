import { testAccounts } from '@ponte/local-servers'
import { isSealed, receiptsRoot } from '@ponte/payment-router'
import { JsonRpcProvider, Wallet } from 'ethers'
import type { RawReceipt } from '../../src/logs/receipts'
import { type Chain, dataOf, memoOf, startChain } from '../chain'

describe('what a node answers, held against its own hashes', () => {
  let chain: Chain
  let provider: JsonRpcProvider
  beforeAll(async () => {
    chain = await startChain()
    provider = new JsonRpcProvider(chain.anvil.rpcUrl, chain.anvil.chainId, { staticNetwork: true })
  })
  afterAll(async () => {
    provider.destroy()
    await chain.stop()
  })

  it('every header hashes to its hash, and receipts of every type to the root in it, with several logs each', async () => {
    const [wallet, other] = [new Wallet(testAccounts[1].privateKey, provider), new Wallet(testAccounts[2].privateKey, provider)]
    const data = dataOf([{ memo: memoOf(1) }, { memo: memoOf(2) }])
    const terms = { to: chain.emitter, data, gasLimit: 1_000_000n, chainId: chain.anvil.chainId }
    const prices = { maxFeePerGas: 9_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
    const authorization = await other.authorize({ address: chain.emitter, nonce: 0, chainId: chain.anvil.chainId })
    const transactions = [
      { ...terms, type: 0, gasPrice: 9_000_000_000n },
      { ...terms, type: 1, gasPrice: 9_000_000_000n, accessList: [{ address: chain.emitter, storageKeys: [] }] },
      { ...terms, ...prices, type: 2 },
      { ...terms, ...prices, type: 4, authorizationList: [authorization] },
      // One that fails leaves a receipt, too.
      { ...terms, ...prices, type: 2, to: null, data: '0xfe' },
    ]
    for (const [nonce, transaction] of transactions.entries())
      await chain.broadcast(await wallet.signTransaction({ ...transaction, nonce }))
    await chain.mine()
    const header = await chain.rpc<Record<string, unknown>>('eth_getBlockByNumber', 'latest', false)
    const receipts = await chain.rpc<RawReceipt[]>('eth_getBlockReceipts', header.hash)
    expect(receipts.map(({ type }) => Number(type))).toEqual([0, 1, 2, 4, 2])
    expect(receipts.map(({ status }) => Number(status))).toEqual([1, 1, 1, 1, 0])
    expect(isSealed(header, 'ethereum')).toBe(true)
    expect(receiptsRoot(receipts, 'ethereum')).toBe(header.receiptsRoot)
    expect(receiptsRoot(receipts.slice(1), 'ethereum')).not.toBe(header.receiptsRoot)
    for (let number = 0; number <= (await chain.height()); number++)
      expect(isSealed(await chain.rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, false), 'ethereum')).toBe(true)
  })
})
