import type { OrderBody } from '@ponte/contracts'
import { mined } from '@ponte/local-servers'
import { deployHostileWallet, hostileCode, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, Wallet } from 'ethers'
import { handIn, signFor } from '../../../siege/signature'
import { GASLESS, RELAYER, units } from '../../../world'
import { type Installation, startInstallation } from '../installation'

// Sections of docs/operating/incidents.md about the relayer's accounts and what waits for it, followed.

const COIN = { COIN_USDC: '3000' }
const GWEI = `0x${(10n ** 9n).toString(16)}`
const FULL = `0x${(100n * 10n ** 18n).toString(16)}`
const DAY = 200
const BUDGETS = ['', 'new_merchants_']
const SPENDERS = `SELECT merchant, kind, wallet, outcome, count(*), round(sum(cost_units / cardinality(order_ids)) / 1e6, 2) AS usdc FROM relays, unnest(merchants) AS merchant
  WHERE created_at > now() - interval '1 day' GROUP BY 1, 2, 3, 4 ORDER BY usdc DESC LIMIT 20`

let ponte: Installation
beforeAll(async () => {
  ponte = await startInstallation({ 'chain-listener': COIN })
}, 180_000)
afterAll(() => ponte?.stop(), 120_000)

const send = (method: string, ...params: unknown[]) => ponte.world.chain.provider.send(method, params)
interface Deposits {
  relayer_address: string
  gasless_address: string
  oldest_first: { order_id: string; failures: number; blocked_reason: string | null }[]
}
const deposits = () => ponte.json<Deposits>('chain-listener', '/deposits')

it.each([
  ['PonteSweepsRunDry', 'sweeps', 'relayer_address', RELAYER.address],
  ['PonteGaslessRunsDry', 'signatures', 'gasless_address', GASLESS.address],
] as const)('%s', async (_alert, of, field, address) => {
  await send('anvil_setBalance', address, '0x1')
  await ponte.becomes('chain-listener', `ponte_relayer_${of}_affordable`, value => value < 200)
  expect((await deposits())[field].toLowerCase()).toBe(address.toLowerCase())
  await send('anvil_setBalance', address, FULL)
  await ponte.becomes('chain-listener', `ponte_relayer_${of}_affordable`, value => value >= 200)
})

it('PonteGasBudgetNearlySpent, PonteNewMerchantsBudgetNearlySpent, PonteDepositsWait', async () => {
  const used = (part = '') => ponte.metric('chain-listener', `ponte_relayer_sweeps_${part}budget_used`)
  const first = await ponte.order()
  await send('anvil_setNextBlockBaseFeePerGas', GWEI)
  await ponte.deposit(first)
  await until(async () => (await used()) > 0, 'nothing is swept', 60_000)
  await until(async () => (await deposits()).oldest_first.length === 0, 'the first deposit waits', 60_000)
  const spent = (await used()) * DAY
  await ponte.change('chain-listener', { GAS_BUDGET_DAY_USDC: (spent * 1.1).toFixed(6) })
  for (const part of BUDGETS) await until(async () => (await used(part)) > 0.8, `the ${part}budget is not nearly spent`, 60_000)

  const second = await ponte.order()
  await ponte.deposit(second)
  await ponte.becomes('chain-listener', 'ponte_deposits_oldest_age_seconds', age => age > 3)
  expect((await deposits()).oldest_first).toMatchObject([{ order_id: second.id, failures: 0, blocked_reason: null }])
  const spenders = await ponte.ledger.query('chain-listener', SPENDERS)
  expect(spenders).toHaveLength(1)
  await ponte.paid(second)

  await ponte.change('chain-listener', { GAS_BUDGET_DAY_USDC: String(DAY) })
  await until(async () => (await deposits()).oldest_first.length === 0, 'the second deposit waits', 60_000)
  await ponte.becomes('chain-listener', 'ponte_deposits_oldest_age_seconds', age => age === 0)
  for (const part of BUDGETS) expect(await used(part)).toBeLessThan(0.8)
}, 240_000)

it('PonteSignaturesRefused: of a wallet that takes its word back, while the token is paused, and over a budget', async () => {
  const { chain } = ponte.world
  const refused = (reason: string) => ponte.metric('chain-listener', 'ponte_authorizations_refused_total', { reason })
  const token = new Contract(chain.usdcAddress, testUsdcAbi, chain.wallet(0))
  const setPaused = async (paused: boolean) => mined(token.getFunction('setPaused').send(paused))
  const signed = async (of: OrderBody, wallet?: string) => {
    const [key, amount] = [Wallet.createRandom(), units(of.usdc_amount)]
    await mined(chain.mintUsdc(wallet ?? key.address, amount))
    return signFor(ponte.world, of, key, amount, wallet)
  }
  const areRefused = async (of: OrderBody, body: object, reason: string, most: number) => {
    const statuses = new Set<number>()
    const tried = async () => {
      statuses.add(await handIn(ponte.world, of, body))
      return (await refused(reason)) > most
    }
    await until(tried, async () => `${reason} is ${await refused(reason)}; the answers were ${[...statuses]}`, 90_000)
    expect(statuses).not.toContain(202)
  }
  const isTaken = async (of: OrderBody, body: object) => {
    await until(async () => (await handIn(ponte.world, of, body)) === 202, 'the signature is not taken', 60_000)
    await ponte.paid(of)
  }
  const spenders = async () => (await ponte.ledger.query('chain-listener', SPENDERS)).filter(({ kind }) => kind === 'authorization')

  const strangers = await ponte.order()
  const wallet = await deployHostileWallet(chain, hostileCode.whileGasIsFree(10_500_000))
  await areRefused(strangers, await signed(strangers, wallet), 'rehearsal', 50)
  expect(await spenders()).toEqual([])
  await ponte.deposit(strangers)
  await ponte.paid(strangers)

  const first = await ponte.order()
  const body = await signed(first)
  const before = await refused('rehearsal')
  await setPaused(true)
  await areRefused(first, body, 'rehearsal', before)
  await ponte.becomes('chain-listener', 'ponte_token_paused', value => value === 1)
  await setPaused(false)
  await isTaken(first, body)
  await until(async () => (await spenders()).some(({ outcome }) => outcome === 'done'), 'what it cost is not recorded', 60_000)

  await ponte.change('chain-listener', { GAS_BUDGET_DAY_USDC: '0.000001' })
  const second = await ponte.order()
  const another = await signed(second)
  await areRefused(second, another, 'day_budget', 50)
  expect(await spenders()).toHaveLength(1)
  await ponte.change('chain-listener', { GAS_BUDGET_DAY_USDC: String(DAY) })
  await isTaken(second, another)
  for (const reason of ['day_budget', 'rehearsal']) expect(await refused(reason)).toBe(0)
}, 360_000)
