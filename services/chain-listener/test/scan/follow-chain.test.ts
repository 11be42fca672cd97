import { type Anvil, startAnvil, testAccounts } from '@ponte/local-servers'
import { deployContracts, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { Contract, JsonRpcProvider, NonceManager, Wallet } from 'ethers'
import { memoOf } from '../chain'
import { type Listening, startListener } from '../setup'

const merchant = testAccounts[3].address

describe('a payment through the real router', () => {
  let anvil: Anvil
  let listening: Listening
  let provider: JsonRpcProvider
  let pay: (memo: string, amount: bigint) => Promise<string>
  let addresses: { usdcAddress: string; routerAddress: string }

  beforeAll(async () => {
    anvil = await startAnvil({ mixedMining: true, blockTimeS: 600 })
    provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { batchMaxCount: 1, polling: true, pollingInterval: 20, cacheTimeout: -1 })
    const signer = new NonceManager(new Wallet(testAccounts[0].privateKey, provider))
    addresses = await deployContracts(signer, { feeBps: 100, feeReceiver: testAccounts[9].address })
    const usdc = new Contract(addresses.usdcAddress, testUsdcAbi, signer)
    const router = new Contract(addresses.routerAddress, paymentRouterAbi, signer)
    await (await usdc.getFunction('mint')(testAccounts[0].address, 10n ** 12n)).wait()
    await (await usdc.getFunction('approve')(addresses.routerAddress, 10n ** 12n)).wait()
    pay = async (memo, amount) => (await (await router.getFunction('pay')(`0x${memo}`, merchant, amount)).wait()).hash
    listening = await startListener({
      rpcUrls: anvil.rpcUrl,
      router: addresses.routerAddress,
      env: { TOKEN_ADDRESS: addresses.usdcAddress, WS_URL: anvil.wsUrl, ADVANCE_EVERY_MS: '100', CONFIRMATIONS: '2' },
    })
  })
  afterAll(async () => {
    await listening?.stop()
    provider?.destroy()
    await anvil?.stop()
  })

  it('is detected, confirmed and followed by chain.advanced, with everything orders needs', async () => {
    const txHash = await pay(memoOf(7), 27_675_277n)
    await listening.idle()
    const { published } = listening
    expect(published.types()).toEqual(['payment.detected'])
    await provider.send('evm_mine', [])
    await listening.idle()
    expect(published.types()).toEqual(['payment.detected', 'payment.confirmed'])
    const [detected, confirmed] = published.payments()
    expect(detected?.data).toMatchObject({
      payment_id: `31337:${detected?.data.block_hash}:${detected?.data.log_index}`,
      router_address: addresses.routerAddress,
      token_address: addresses.usdcAddress,
      memo: memoOf(7),
      merchant_address: merchant,
      payer_address: testAccounts[0].address,
      kind: 'router',
      amount: '27.675277',
      deposit_address: null,
      tx_hash: txHash,
    })
    expect(confirmed?.data.payment_id).toBe(detected?.data.payment_id)
    const block = confirmed?.data.block_number ?? Number.POSITIVE_INFINITY
    const advancing = published.blocks().find(({ advanced }) => advanced && advanced.from <= block && advanced.to >= block)
    expect(advancing?.payments.map(({ tx_hash }) => tx_hash)).toEqual([txHash])
  })
})
