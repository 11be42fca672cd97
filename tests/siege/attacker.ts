import type { OrderBody } from '@ponte/contracts'
import { deployHostileWallet, hostileCode, paymentRouterAbi } from '@ponte/payment-router'
import { Contract, Wallet } from 'ethers'
import { call, createMerchant, GASLESS, units, type World } from '../world'
import { inLine } from './in-line'
import { handIn, signFor } from './signature'

/** Honest payers are paid from account 0, and each trick deploys from one of its own: two who share an account take each other's nonces. */
const MINTER = 7
const FEES = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n }

/** One attacker with money, coin and a merchant of their own, who uses every trick at once until stopped. */
export async function startAttacker(
  world: World,
  count: (trick: string) => void,
  /** A checkout link of a merchant who has nothing to do with the attacker. */
  openElsewhere: () => Promise<OrderBody>,
) {
  const { chain } = world
  const { provider } = chain
  const merchant = await createMerchant(world, world.place.publicUrl, null, chain.wallet(6).address)
  const rich = chain.wallet(8)
  const [minter, sender, mintInLine] = [chain.wallet(MINTER), inLine(), inLine()]
  const victims: OrderBody[] = []
  const open = (brl = '150.00') => call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: brl })
  const mint = (to: string, amount: bigint) => mintInLine(() => minter.sendTransaction(mintCall(world, to, amount)))
  const switchFrom = (to: string) => sender(() => rich.sendTransaction({ to, data: '0x', gasLimit: 100_000, ...FEES }))

  const wallet = (account: number, code: string, after?: (payer: string) => Promise<unknown>) => async () => {
    const [order, payer] = [await open(), await deployHostileWallet(chain, code, account)]
    await mint(payer, units(order.usdc_amount))
    await mined(world)
    const status = await handIn(
      world,
      order,
      await signFor(world, order, new Wallet(Wallet.createRandom().privateKey), units(order.usdc_amount), payer),
    )
    if (status === 202) await after?.(payer)
    return status
  }
  const takeAway = async (openLink: () => Promise<OrderBody>) => {
    const [order, payer] = [await openLink(), Wallet.createRandom().connect(provider)]
    await mint(payer.address, units(order.usdc_amount))
    await provider.send('anvil_setBalance', [payer.address, '0xde0b6b3a7640000'])
    await mined(world)
    const status = await handIn(world, order, await signFor(world, order, payer, units(order.usdc_amount)))
    const usdc = new Contract(chain.usdcAddress, ['function transfer(address,uint256)'], payer)
    await usdc.getFunction('transfer').send(rich.address, units(order.usdc_amount), { gasLimit: 100_000, ...FEES })
    return status
  }
  const tricks: Record<string, () => Promise<unknown>> = {
    'a wallet that burns 26 M gas': wallet(1, hostileCode.burner(26_000_000)),
    'a wallet that answers yes while gas is free': wallet(2, hostileCode.whileGasIsFree(10_500_000)),
    'a wallet that answers yes in an empty block': wallet(3, hostileCode.whileNoOneProduces(10_500_000)),
    'a wallet that takes its word back': wallet(5, hostileCode.switchable(10_500_000), switchFrom),
    'a key that takes its money away': () => takeAway(open),
    'a key that takes its money away from another`s merchant': () => takeAway(openElsewhere),
    async 'a merchant who pays himself'() {
      const [order, payer] = [await open('60.00'), Wallet.createRandom()]
      await mint(payer.address, units(order.usdc_amount))
      await mined(world)
      return handIn(world, order, await signFor(world, order, payer, units(order.usdc_amount)))
    },
    async 'orders of a cent'() {
      const [order, payer] = [await open('0.10'), Wallet.createRandom()]
      await mint(payer.address, units(order.usdc_amount))
      await mined(world)
      return handIn(world, order, await signFor(world, order, payer, units(order.usdc_amount)))
    },
    async 'many signatures for one link'() {
      const order = await open()
      const payers = Array.from({ length: 5 }, () => Wallet.createRandom())
      for (const { address } of payers) await mint(address, units(order.usdc_amount))
      await mined(world)
      return Promise.all(payers.map(async payer => handIn(world, order, await signFor(world, order, payer, units(order.usdc_amount)))))
    },
    async 'small change at a deposit address, again and again'() {
      const order = await open()
      for (let times = 0; times < 3; times++) await mint(order.payment.deposit_address ?? '', 20_000n)
    },
    async 'sweeps of others`s deposits'() {
      const victim = victims.shift()
      if (!victim) return
      const router = new Contract(victim.payment.router_address, paymentRouterAbi, rich)
      await sender(() =>
        router.getFunction('sweep').send(`0x${victim.memo}`, victim.payment.merchant_address, { gasLimit: 300_000, ...FEES }),
      )
    },
    async 'what the relayer sends, sent first'() {
      const block = await provider.send('eth_getBlockByNumber', ['pending', true])
      const ours = (block?.transactions ?? []).filter(({ from }: { from: string }) => from.toLowerCase() === GASLESS.address.toLowerCase())
      for (const { to, input } of ours) await sender(() => rich.sendTransaction({ to, data: input, gasLimit: 400_000, ...FEES }))
    },
  }
  let stopped = false
  const loops = Object.entries(tricks).map(async ([name, trick]) => {
    while (!stopped) {
      try {
        await trick()
        count(name)
      } catch (error) {
        // Refused by a limit, or by the chain: the attacker goes on.
        count(`${name}: ${String(Reflect.get(Object(error), 'code') ?? error).slice(0, 60)}`)
      }
      await new Promise(resolve => setTimeout(resolve, 500))
    }
  })
  return {
    merchantId: merchant.id,
    /** An honest order whose deposit may be swept by the attacker. */
    see: (order: OrderBody) => void victims.push(order),
    async stop() {
      stopped = true
      await Promise.all(loops)
    },
  }
}

const mintCall = ({ chain }: World, to: string, amount: bigint) => ({
  gasLimit: 100_000,
  to: chain.usdcAddress,
  data: `0x40c10f19${to.slice(2).toLowerCase().padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`,
})

/** Resolves when the next block is there. */
async function mined({ chain }: World): Promise<void> {
  const before = await chain.provider.getBlockNumber()
  while ((await chain.provider.getBlockNumber()) === before) await new Promise(resolve => setTimeout(resolve, 100))
}
