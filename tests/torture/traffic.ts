import { type LocalChain, mined, testAccounts } from '@ponte/local-servers'
import { testUsdcAbi } from '@ponte/payment-router'
import { createRandom } from '@ponte/service-kit/testing'
import { Contract, MaxUint256, Wallet } from 'ethers'
import { BUNDLE_CODE } from '../simulation/bundle'
import { call, createMerchant, type World } from '../world'
import type { Cluster } from './cluster'
import { createPayer, onAnyNetwork, type Payer } from './payer'
import { startReceiver } from './receiver'
import { createRequests } from './requests'
import { type Driver, type Merchant, type Scene, step } from './steps'
import { openTills } from './tills'

export interface Traffic extends Pick<Scene, 'requests' | 'answered' | 'cancelled' | 'refunds' | 'tills'> {
  merchants: readonly Merchant[]
  counts: Record<string, number>
  /** Runs until stopped; resolves when the last payment is made. */
  run(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

const PAYERS = [3, 5, 6]
const FORTUNE = 10n ** 15n

export interface Stage {
  world: World
  chains: readonly [LocalChain, ...LocalChain[]]
  cluster: Cluster
  /** A second router, which the listener watches and no order names. */
  otherRouter: string
  seed: number
}

export async function startTraffic({ world, chains, cluster, otherRouter, seed }: Stage): Promise<Traffic> {
  const counts: Record<string, number> = {}
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const requests = createRequests(cluster, createRandom(seed + 1), count)
  const drivers: Driver[] = []
  for (const [index, account] of PAYERS.entries()) {
    const { privateKey } = testAccounts[account] ?? testAccounts[0]
    const open = async (chain: LocalChain): Promise<Payer> => {
      await endow(chain, privateKey, [chain.routerAddress, otherRouter])
      return createPayer({ chain, requests, privateKey, bundleAddress: await openBundle(chain), count })
    }
    const [first, ...others] = chains
    const payer = onAnyNetwork([await open(first), ...(await Promise.all(others.map(open)))], createRandom(seed * 37 + index))
    drivers.push({ merchant: await openMerchant(world, cluster, ownOf(index, others)), payer, random: createRandom(seed * 31 + index) })
  }
  const merchants = drivers.map(({ merchant }) => merchant)
  const kept = { answered: new Map(), cancelled: new Set<string>(), refunds: new Map(), later: new Set<Promise<void>>() }
  const scene: Scene = { requests, otherRouter, tills: await openTills(world, cluster), ...kept, count }
  return {
    ...scene,
    merchants,
    counts,
    async run(signal) {
      await Promise.all(
        drivers.map(async driver => {
          while (!signal.aborted) {
            await step(scene, driver, signal)
            await new Promise(resolve => setTimeout(resolve, driver.random.between(20, 200)))
          }
        }),
      )
      await Promise.all(scene.later)
      await Promise.all(drivers.map(({ payer }) => payer.done()))
    },
    stop: async () => void (await Promise.all(merchants.map(({ receiver }) => receiver.stop()))),
  }
}

async function endow(chain: LocalChain, privateKey: string, routers: readonly string[]): Promise<void> {
  const payer = chain.wallet(privateKey)
  await mined(chain.mintUsdc(payer.address, FORTUNE))
  for (const router of routers) {
    await mined(new Contract(chain.usdcAddress, testUsdcAbi, payer).getFunction('approve').send(router, MaxUint256))
  }
}

async function openBundle(chain: LocalChain): Promise<string> {
  const created = await mined(chain.wallet(0).sendTransaction({ data: BUNDLE_CODE }))
  const address = created.contractAddress ?? ''
  await mined(chain.mintUsdc(address, FORTUNE))
  return address
}

/** The first merchant has one address on all networks, the second another one on one of them, and that of the third moves. */
function ownOf(index: number, [second, ...more]: readonly LocalChain[]): Merchant['own'] {
  const chain = index === 0 ? undefined : index === 1 ? second : (more.at(-1) ?? second)
  return chain ? { chainId: chain.chainId, wallets: [newWallet(), newWallet()], isMoved: index > 1 } : null
}

const newWallet = () => new Wallet(Wallet.createRandom().privateKey)

async function openMerchant(world: World, cluster: Cluster, own: Merchant['own']): Promise<Merchant> {
  const gateway = cluster.gatewayUrls[0] ?? ''
  const receiver = await startReceiver()
  const wallet = newWallet()
  const body = await createMerchant(world, gateway, receiver.url, wallet.address)
  if (own) {
    const payout_addresses = { [own.chainId]: own.wallets[0].address }
    await call(gateway, 'PATCH', '/api/v1/merchants/me', body.token, { payout_addresses })
  }
  receiver.trust(body.webhook_secret)
  const { id } = await call<{ id: string }>(gateway, 'POST', '/api/v1/subscriptions', body.api_key, { brl_amount: '19.90' })
  return { body, receiver, wallet, own, subscriptionIds: [id] }
}
