import type { AttentionItemBody, EventBody, List, MerchantBody, OrderBody, RefundListBody, SummaryBody } from '@ponte/contracts'
import { receiveWithAuthorizationTypedData } from '@ponte/payment-router'
import { silentLogger } from '@ponte/service-kit'
import { createRandom, type Random } from '@ponte/service-kit/testing'
import { hexlify, id, randomBytes, Wallet } from 'ethers'
import { Client, Pool } from 'pg'
import { startReceiver } from '../torture/receiver'
import { call, chainIdsOf, createExpiryWatch, createMerchant, logIn, startWorld, units } from '../world'
import { OWN_ACCOUNT } from './actors'
import { added, ledgerDifferences, movedMoney, type Paid, type SeenEntry, sentTo } from './judge-ledger'
import { differences, expectedOf, type Heard, hearingDifferences, type Place, type ReadChain, type SeenOrder } from './judge-orders'
import { expectedReturn, noticeDifferences, orderDifferences, returnDifferences, returned, walletDifferences } from './judge-returns'
import { createTime, HOUR_S, type Network, openNetwork } from './networks'
import type { Expected } from './oracle'
import { type Action, planAcceptance, planActions, planOrder, planReturns, planStray, planTolerance } from './plan'
import { type Kept, keepDatabase } from './put-back'
import { type Asking, createReturns, isReturning, type Returning } from './returns'
import { startServices } from './services'

const CONFIRMATIONS = 3
const MERCHANTS = 3
const FEE_BPS = 100n
/** The books are those of São Paulo. */
const BOOKS = { from: '2025-01-01', to: '2031-12-31', timezone: 'America/Sao_Paulo', by: 'month' }
/** A payer's later second thoughts: nothing is planned behind this many seconds after the last expiry. */
const AFTER_S = 9_200
/** In so many looks hours pass on the chain; on a busy machine a look takes seconds. */
const LOOKS_MAX = 400
const LOOK_MS = 100
/** A look may be short, and a busy machine needs time besides. */
const SETTLE_MS = 120_000
const MINE_EVERY = 2
const RETRY_S = 60
const DAY_S = 86_400
/** Services that may be cut off from the bus in one direction alone. */
const CUT_OFF = ['orders', 'chain-listener', 'subscriptions', 'webhook-dispatcher'] as const

export interface Outcome {
  counts: Record<string, number>
  differences: string[]
}

interface Opened extends Returning {
  index: number
  memo: string
  merchant: number
  hasDeposit: boolean
  toleranceUnits: bigint
  expiresAt: number
  cancelled: boolean
  /** The transaction with which the merchant's acceptance was answered. */
  accepted: string | null
  /** Transactions that the merchant counted for it. */
  attached: string[]
  /** Chains that it may be paid on. */
  offered: number[]
  body: OrderBody
}

/** Another payout address for one network. */
interface Own {
  chainId: number
  wallet: Wallet
}

/** A whole system whose chains, clock and bus are the simulation's; one seed after the other is played on it. */
export async function startSimulation({ networks: networkCount = 1 } = {}) {
  const [firstId, ...otherIds] = chainIdsOf(networkCount)
  let now = () => new Date()
  const world = await startWorld({
    identity: { now: () => now() },
    ...{ confirmations: CONFIRMATIONS, chain: { chainId: firstId, noMining: true } },
    otherChains: otherIds.map(chainId => ({ chainId, noMining: true })),
  })
  const first = await openNetwork(world.chain, CONFIRMATIONS)
  const networks = [first, ...(await Promise.all(world.otherChains.map(other => openNetwork(other, CONFIRMATIONS))))]
  const time = createTime(networks)
  now = () => new Date(time.now() * 1_000)
  // The bus outlives the seeds; each seed turns its own dice in the rest.
  const services = await startServices(world.place, { now, random: createRandom(1), logger: silentLogger })
  const gateway = world.place.publicUrl
  const merchants = await Promise.all(
    Array.from({ length: MERCHANTS }, async () => {
      const receiver = await startReceiver()
      const wallet = new Wallet(Wallet.createRandom().privateKey)
      const body = await createMerchant(world, gateway, receiver.url, wallet.address)
      receiver.trust(body.webhook_secret)
      const always = () => [{ address: wallet.address.toLowerCase(), from: 0, to: Number.POSITIVE_INFINITY }]
      const paid = new Map<number, Paid[]>(networks.map(({ local: { chainId } }) => [chainId, always()]))
      return { receiver, wallet, own: null as Own | null, body, paid }
    }),
  )

  const payoutOn = ({ wallet, own }: (typeof merchants)[number], { local }: Network): Wallet =>
    own?.chainId === local.chainId ? own.wallet : wallet
  const feeReceiver = `0x${(await first.rpc<string>('eth_call', { to: world.chain.routerAddress, data: id('feeReceiver()').slice(0, 10) }, 'latest')).slice(26)}`
  const depositsOf = merchants.map(() => new Set<string>())
  const givenAwayOf = merchants.map(() => new Map<string, bigint>())
  const returnsOf = merchants.map(() => new Map<string, Asking>())
  const readNow = () => Promise.all(networks.map(({ read }) => read()))
  const returns = createReturns({ gateway, networks, time })
  const listenerDatabases = [world.place.databaseUrl('chain-listener'), ...(world.place.others ?? []).map(({ databaseUrl }) => databaseUrl)]
  const orderBooks = new Pool({ connectionString: world.place.databaseUrl('orders'), max: 1 })
  const expiry = createExpiryWatch(
    async (sql, values) => (await orderBooks.query(sql, values)).rows,
    networks.map(({ local: { chainId }, confirmedTime }, at) => {
      const ask = asking(listenerDatabases[at] ?? '')
      const readTime = async () => Number((await ask('SELECT extract(epoch FROM confirmed_time) AS at FROM chain_cursor'))[0]?.at ?? 0)
      return { chainId, confirmedTime, readTime }
    }),
  )
  let kept: { listener: string; database: Kept } | undefined

  async function play(seed: number, size: number): Promise<Outcome> {
    const random = createRandom(seed)
    /** Dice of their own, so that what is planned for orders stays as it is. */
    const strays = createRandom(seed + 1_000_000)
    const returning = createRandom(seed + 2_000_000)
    const directs = createRandom(seed + 3_000_000)
    const places = createRandom(seed + 4_000_000)
    const anywhere = () => places.pick(networks)
    const counts: Record<string, number> = {}
    const before = { ...services.bus.counts }
    const count = (name: string, by = 1) => {
      counts[name] = (counts[name] ?? 0) + by
    }
    for (const merchant of merchants) {
      if (directs.chance(0.5)) await payElsewhere(merchant, null, count)
      const [, ...others] = networks
      if (others.length > 0 && places.chance(0.5))
        await payElsewhere(merchant, merchant.own?.chainId ?? places.pick(others).local.chainId, count)
    }
    const orders = await open({ random, strays, places, size }, count)
    count('orders', orders.length)
    const byTime = groupByTime(
      bundleUp(
        random,
        orders.flatMap(order => {
          const times = { index: order.index, createdAt: time.now(), expiresAt: order.expiresAt }
          const planned = planActions(random, { ...times, usdcUnits: order.usdcUnits, hasDeposit: order.hasDeposit })
          return [
            ...planned,
            ...planAcceptance(strays, times),
            ...planStray(strays, { ...times, usdcUnits: order.usdcUnits }),
            ...planReturns(returning, times),
          ]
        }),
      ),
    )
    const found: string[] = []
    const disturb = disturber(random, places, count)
    for (const [index, [at, actions]] of byTime.entries()) {
      await disturb.before()
      if (strays.chance(0.1)) {
        count('payments for no order')
        const merchant = merchants[strays.between(0, MERCHANTS)]
        const network = anywhere()
        await network.actors.pay(
          strays.between(0, 4),
          hexlify(randomBytes(32)).slice(2),
          merchant ? payoutOn(merchant, network).address : '',
          BigInt(strays.between(1, 90_000_000)),
        )
      }
      if (strays.chance(0.1)) {
        count('sweeps of no order')
        const merchant = merchants[strays.between(0, MERCHANTS)]
        const network = anywhere()
        const place = { memo: hexlify(randomBytes(32)).slice(2), merchant: merchant ? payoutOn(merchant, network).address : '' }
        await network.actors.sweepOfNone(strays.between(0, 4), place, BigInt(strays.between(1, 90_000_000)))
      }
      if (returning.chance(0.1)) {
        count('wallets spent')
        const merchant = returning.pick(merchants)
        const network = anywhere()
        const [wallet, { local, actors }] = [payoutOn(merchant, network), network]
        const held = await local.balanceOf(wallet.address)
        await actors.spend(wallet, (held * BigInt(returning.between(90, 101))) / 100n, hexlify(randomBytes(32)), time.now() + DAY_S)
      }
      if (returning.chance(0.05)) {
        count('wallets filled')
        await first.actors.mint(returning.pick(merchants).wallet.address, BigInt(returning.between(1, 50_000_000)))
      }
      if (directs.chance(0.25)) {
        count('direct transfers')
        // Also to an address that was theirs, and on a network where it never was.
        const { address } = directs.pick([...directs.pick(merchants).paid.values()].flat())
        await places.pick(networks).actors.transfer(directs.between(0, 5), address, BigInt(directs.between(1, 90_000_000)))
      }
      if (directs.chance(0.1)) {
        count('direct transfers around payments')
        const { body } = directs.pick(merchants)
        await first.actors.mixed(hexlify(randomBytes(32)).slice(2), body.payout_address ?? '', BigInt(directs.between(100, 90_000_000)))
      }
      await act(orders, actions, { at, anywhere }, count)
      await expiry.look()
      if (expiry.wrong.length > 0) break
      if (index % Math.ceil(byTime.length / 3) === 0) {
        await disturb.heal()
        count('checkpoints')
        found.push(...(await settle(orders, false)))
        await countReturns(orders, false, count)
        if (found.length > 0) break
      }
    }
    await disturb.heal()
    for (const stoodS of time.resume({ all: true })) countHalt(stoodS, count)
    if (services.suspended() !== null) {
      await services.suspend(null)
      count('networks resumed')
    }
    const end = Math.max(...orders.map(({ expiresAt }) => expiresAt), time.now()) + AFTER_S
    await time.mineAt(end)
    for (let block = 0; block <= CONFIRMATIONS; block++) await time.mineAt(time.now() + 1)
    if (found.length === 0) found.push(...(await settle(orders, true)))
    if (found.length === 0) await countReturns(orders, true, count)
    found.push(...expiry.wrong.splice(0))
    countNetworks(orders, await readNow(), count)
    for (const message of services.dead) found.push(`${message.type} is among the dead letters: ${message.body.slice(0, 200)}`)
    for (const { receiver } of merchants) {
      const { received, forged } = receiver.counts
      if (forged > 0) found.push(`${forged} webhooks had a wrong signature`)
      if (received !== receiver.taken.size) found.push(`${received} webhooks came, ${receiver.taken.size} of them different`)
    }
    count('webhooks', orders.flatMap(order => hearing(order)).length)
    for (const [name, by] of Object.entries(services.bus.counts)) count(`${name} on the bus`, by - before[name as keyof typeof before])
    return { counts, differences: found }
  }

  async function suspendOne(places: Random, count: (name: string) => void): Promise<void> {
    const [, ...others] = networks
    if (others.length === 0) return
    await services.suspend(places.pick(others).local.chainId)
    count('networks suspended')
  }

  function countHalt(stoodS: number, count: (name: string) => void): void {
    count('a chain goes on')
    if (stoodS >= HOUR_S) count('a chain goes on after an hour')
  }

  /** Counted where several networks had a part in it at once. */
  function countNetworks(orders: readonly Opened[], chains: readonly ReadChain[], count: (name: string) => void): void {
    for (const order of orders) {
      const { statuses, exception, payments } = expectedOf({ ...toSeen(order, order.body), ...order }, offeredTo(order, chains), FEE_BPS)
      const isOfSeveral = new Set(payments.map(({ chainId }) => chainId)).size > 1
      if (isOfSeveral && statuses.includes('paid')) count('orders paid on several networks')
      if (isOfSeveral && exception === 'duplicate') count('duplicates across networks')
    }
    for (const { chainId, chain } of chains) {
      const swept = new Map(orders.map(order => [order.places.get(chainId)?.depositAddress, order]))
      for (const { payer } of chain.received) {
        const order = swept.get(payer)
        if (!order) continue
        count(`sweeps on ${chainId}`)
        if (order.places.get(chainId)?.merchantAddress !== order.places.get(firstId)?.merchantAddress)
          count('sweeps to the address of one network')
      }
    }
  }

  /** From now on a merchant is paid at another address of their own, on one network or on all without one of theirs. Blocks of this second are those of before. */
  async function payElsewhere(merchant: (typeof merchants)[number], chainId: number | null, count: (name: string) => void): Promise<void> {
    count(chainId === null ? 'payout addresses changed' : 'payout addresses of one network changed')
    await time.mineAt(time.now() + 1)
    const from = time.now() + 1
    const wallet = new Wallet(Wallet.createRandom().privateKey)
    // Hours have passed since the last session began.
    const token = await logIn(world, merchant.body)
    const change = chainId === null ? { payout_address: wallet.address } : { payout_addresses: { [chainId]: wallet.address } }
    const changed = await insist(() => call<MerchantBody>(gateway, 'PATCH', '/api/v1/merchants/me', token, change))
    const named = chainId === null ? changed.payout_address : changed.payout_addresses?.[chainId]
    if (named !== wallet.address) throw new Error(`the payout address is ${named} and must be ${wallet.address}`)
    await time.mineAt(from)
    for (const [of, paid] of merchant.paid) {
      if (chainId === null ? of === merchant.own?.chainId : of !== chainId) continue
      Object.assign(paid.at(-1) ?? {}, { to: from })
      paid.push({ address: wallet.address.toLowerCase(), from, to: Number.POSITIVE_INFINITY })
    }
    Object.assign(merchant, chainId === null ? { wallet } : { own: { chainId, wallet } })
    if (chainId === null) Object.assign(merchant.body, { payout_address: wallet.address })
  }

  /** Where an order is paid on each chain, as it names it, and as its memo and its merchant's address make it where it does not. */
  async function placesOf({ memo, payment }: OrderBody, merchant: (typeof merchants)[number]): Promise<Map<number, Place>> {
    const places = networks.map(async (network): Promise<[number, Place]> => {
      const { chainId } = network.local
      const named = payment.networks?.find(({ chain_id }) => chain_id === chainId) ?? (chainId === firstId ? payment : undefined)
      // Where it is not offered, its payers see the address of its first network.
      const merchantAddress = payoutOn(merchant, named ? network : first).address.toLowerCase()
      const depositAddress = payment.deposit_address === null ? null : await network.actors.depositAddress(memo, merchantAddress)
      const deposit = named?.deposit_address?.toLowerCase() ?? null
      if (named && deposit !== depositAddress)
        throw new Error(`the address of memo ${memo} on ${chainId} is ${deposit} and must be ${depositAddress}`)
      return [chainId, { merchantAddress, depositAddress }]
    })
    return new Map(await Promise.all(places))
  }

  async function open(
    { random, strays, places, size }: { random: Random; strays: Random; places: Random; size: number },
    count: (name: string) => void,
  ): Promise<Opened[]> {
    const opened: Opened[] = []
    for (let index = 0; index < size; index++) {
      if (index === Math.floor(size / 2)) await suspendOne(places, count)
      const planned = planOrder(random, MERCHANTS)
      const merchant = merchants[planned.merchant]
      if (!merchant) throw new RangeError('There is no such merchant.')
      const tolerance = planTolerance(strays, planned)
      const body = await insist(() =>
        call<OrderBody>(gateway, 'POST', '/api/v1/orders', merchant.body.api_key, {
          brl_amount: planned.brlAmount,
          expires_in: planned.expiresIn,
          ...(tolerance === null ? {} : { payment_tolerance: decimal(tolerance) }),
        }),
      )
      const offered = body.payment.networks?.map(({ chain_id }) => chain_id) ?? [firstId]
      if (offered.some(chainId => chainId === services.suspended())) throw new Error(`order ${body.id} offers a suspended network`)
      if (offered.length < networks.length) count('orders that offer fewer networks')
      opened.push({
        ...{ index, id: body.id, memo: body.memo, apiKey: merchant.body.api_key, merchant: planned.merchant, body },
        places: await placesOf(body, merchant),
        hasDeposit: (body.payment.deposit_address ?? null) !== null,
        usdcUnits: units(body.usdc_amount),
        toleranceUnits: tolerance ?? toleranceByDefault(units(body.usdc_amount)),
        expiresAt: Date.parse(body.expires_at) / 1_000,
        cancelled: false,
        accepted: null,
        attached: [],
        offered,
        wallets: [merchant.wallet, ...(merchant.own ? [merchant.own.wallet] : [])],
        signers: new Set(),
        returns: new Map(),
      })
      for (const { depositAddress } of opened.at(-1)?.places.values() ?? [])
        if (depositAddress !== null) depositsOf[planned.merchant]?.add(depositAddress)
    }
    return opened
  }

  async function act(
    orders: readonly Opened[],
    actions: readonly Action[],
    { at, anywhere }: { at: number; anywhere: () => Network },
    count: (name: string) => void,
  ): Promise<void> {
    const signatures: (() => Promise<void>)[] = []
    const bundled = new Map(networks.map(network => [network, [] as { to: string; units: bigint }[]]))
    for (const action of actions) {
      const order = orders[action.order]
      if (!order) continue
      const network = anywhere()
      const { actors } = network
      const { merchantAddress = '', depositAddress = null } = order.places.get(network.local.chainId) ?? {}
      count(action.does)
      if (action.does === 'cancel') await cancel(order, count)
      else if (action.does === 'accept') await accept(order, count)
      else if (action.does === 'attach') await attach(order, count)
      else if (action.does === 'return') await ask(order, action, network, count)
      else if (action.does === 'sign') await returns.sign(order, action, count)
      else if (action.does === 'cancel authorization' || action.does === 'use nonce') await returns.endNonce(order, action)
      else if (action.does === 'cancel return') await returns.cancel(order, action, count)
      else if (action.does === 'stray') await actors.pay(action.payer, strayMemoOf(order), merchantAddress, action.units)
      else if (action.does === 'router') await actors.pay(action.payer, order.memo, merchantAddress, action.units)
      else if (action.does === 'sweep') await actors.sweep(action.payer, order.memo, merchantAddress)
      else if (action.does === 'signature') signatures.push(await signed(order, action.units, count))
      else if (depositAddress === null) continue
      else if (action.does === 'transfer') await actors.transfer(action.payer, depositAddress, action.units)
      else if (action.does === 'mint') await actors.mint(depositAddress, action.units)
      else bundled.get(network)?.push({ to: depositAddress, units: action.units })
    }
    for (const [{ actors }, transfers] of bundled) if (transfers.length > 0) await actors.bundled(transfers)
    await time.mineAt(at)
    for (const hand of signatures) await hand()
  }

  async function cancel(order: Opened, count: (name: string) => void): Promise<void> {
    try {
      await call(gateway, 'POST', `/api/v1/orders/${order.id}/cancel`, order.apiKey)
      order.cancelled = true
      count('cancelled')
    } catch (error) {
      // Money has come, the order is final, or orders is away: all of them leave it as it was or as another request made it.
      if (!/ answered (409|50[23]):/.test(String(error))) throw error
    }
  }

  async function accept(order: Opened, count: (name: string) => void): Promise<void> {
    try {
      const body = await call<OrderBody>(gateway, 'POST', `/api/v1/orders/${order.id}/accept`, order.apiKey, { reason: 'simulated' })
      order.accepted = body.tx_hash
      count('accepted')
      if (isReturning(order)) returns.wrong.push(`order ${order.id}: it was accepted while money of it goes back`)
    } catch (error) {
      // There is nothing to accept, or orders is away.
      if (!/ answered (409|50[23]):/.test(String(error))) throw error
    }
  }

  async function attach(order: Opened, count: (name: string) => void): Promise<void> {
    try {
      const { data } = await call<List<AttentionItemBody>>(gateway, 'GET', '/api/v1/attention?limit=100', order.apiKey)
      const isElsewhere = (payment: AttentionItemBody['payment']) =>
        payment !== null && payment.memo === order.memo && !order.offered.includes(payment.chain_id) && !time.isHalted()
      const item = data.find(({ payment }) => payment?.memo === strayMemoOf(order) || isElsewhere(payment))
      if (!item?.payment) return
      const word = { order_id: order.id, reason: 'simulated' }
      await call(gateway, 'POST', `/api/v1/attention/${item.id}/attach`, order.apiKey, word)
      if (isElsewhere(item.payment)) {
        order.offered.push(item.payment.chain_id)
        count('attached from a network that was not offered')
      }
      order.attached.push(item.payment.tx_hash)
      count('attached')
      if (isReturning(order)) returns.wrong.push(`order ${order.id}: a payment was counted for it while money of it goes back`)
    } catch (error) {
      // The order is paid, its payout address is blocked on a network that it did not offer, or orders is away.
      if (!/ answered (409|422|50[23]):/.test(String(error))) throw error
    }
  }

  async function ask(
    order: Opened,
    action: Extract<Action, { does: 'return' }>,
    network: Network,
    count: (name: string) => void,
  ): Promise<void> {
    await returns.ask(order, action, network, count)
    const asked = order.returns.get(action.nth)
    if (asked) returnsOf[order.merchant]?.set(asked.id, asked)
  }

  /** The signer's money is mined with the block of the action; the signature is handed in after it. */
  async function signed(order: Opened, amount: bigint, count: (name: string) => void): Promise<() => Promise<void>> {
    const signer = await first.actors.signer(amount)
    order.signers.add(signer.address.toLowerCase())
    return async () => {
      const validBefore = order.expiresAt
      if (validBefore < time.now() + 61) return
      const salt = hexlify(randomBytes(32))
      const { domain, types, message } = receiveWithAuthorizationTypedData({
        ...{ chainId: world.chain.chainId, usdcAddress: world.chain.usdcAddress, router: world.chain.routerAddress },
        ...{ memo: order.memo, merchant: order.body.payment.merchant_address, payer: signer.address, amount },
        salt,
        validBefore: BigInt(validBefore),
      })
      const answer = await fetch(`${gateway}/api/v1/checkout/${order.id}/authorization`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          ...{ payer_address: signer.address, amount: decimal(amount), valid_before: validBefore, salt },
          signature: await signer.signTypedData(domain, types, message),
        }),
      })
      count(`signatures answered ${answer.status}`)
    }
  }

  /** Faults between two blocks, and their ends. */
  function disturber(random: Random, places: Random, count: (name: string, by?: number) => void) {
    let blocked = false
    const setBlocked = async (next: boolean) => {
      blocked = next
      for (const { actors } of networks) await actors.block(merchants[0]?.body.payout_address ?? '', next)
    }
    return {
      async before() {
        if (random.chance(0.03)) {
          count('the listener goes away')
          await services.stop(places.pick(services.listeners))
        } else if (random.chance(0.2)) for (const name of services.listeners) await services.start(name)
        if (random.chance(0.02)) {
          count('orders restarts')
          await services.restart('orders')
        }
        if (random.chance(0.04)) {
          count('reorganisations')
          const network = places.pick(networks)
          count(`reorganisations of ${network.local.chainId}`)
          count('sent again', await network.clock.reorganise(random.between(1, CONFIRMATIONS), random))
        }
        if (random.chance(0.03)) {
          count('payout address blocked or freed')
          await setBlocked(!blocked)
        }
        if (random.chance(0.04)) {
          const [service, what] = [random.pick(CUT_OFF), random.pick(['speaking', 'hearing'] as const)]
          count(`${service} is cut off from ${what}`)
          services.bus.cutOff(service, what)
        }
        if (random.chance(0.1)) for (const service of CUT_OFF) services.bus.cutOff(service, null)
        if (random.chance(0.1)) services.bus.disturb(true)
        if (random.chance(0.1)) services.bus.release()
        if (places.chance(0.02) && time.halt(places)) count('a chain stands still')
        if (places.chance(0.04)) for (const stoodS of time.resume()) countHalt(stoodS, count)
        if (places.chance(0.02)) {
          if (services.suspended() === null) await suspendOne(places, count)
          else {
            await services.suspend(null)
            count('networks resumed')
          }
        }
        if (networks.length > 1 && !kept && places.chance(0.04)) {
          const at = places.between(0, services.listeners.length)
          const listener = services.listeners[at] ?? ''
          const isRunning = services.isRunning(listener)
          await services.stop(listener)
          kept = { listener, database: await keepDatabase(listenerDatabases[at] ?? '') }
          if (isRunning) await services.start(listener)
        } else if (kept && places.chance(0.08)) {
          count('a listener is put back')
          await services.stop(kept.listener)
          await expiry.note()
          await kept.database.putBack()
          await services.start(kept.listener)
          kept = undefined
          // It reports what it follows when it starts, and every minute.
          await services.restart('orders')
        }
      },
      async heal() {
        if (blocked) await setBlocked(false)
        services.bus.disturb(false)
        for (const service of CUT_OFF) services.bus.cutOff(service, null)
        for (const name of services.listeners) await services.start(name)
        services.bus.release()
      },
    }
  }

  /** Waits until every order is what the oracle states; answers where they still differ. */
  async function settle(orders: readonly Opened[], final: boolean): Promise<string[]> {
    // An answer that was wrong stays so.
    if (returns.wrong.length > 0) return returns.wrong.splice(0)
    const since = Date.now()
    // The one that differed a moment ago comes first: while it does, nothing else is asked for.
    const waiting = [...orders]
    for (let look = 1; ; look++) {
      const isLast = look >= LOOKS_MAX && Date.now() - since > SETTLE_MS
      const late = isLast ? undefined : await firstLate(waiting, final)
      if (late) waiting.unshift(...waiting.splice(waiting.indexOf(late), 1))
      else {
        const found = await compare(orders, final)
        if (found.length === 0 || isLast) return found
      }
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
      // The relayer's transactions wait for a block, and their confirmations for more.
      // In the end time passes quickly, because what could not be swept is tried again after minutes.
      if (look % MINE_EVERY === 0) await time.mineAt(time.now() + (final ? RETRY_S : 1))
    }
  }

  async function firstLate(orders: readonly Opened[], final: boolean): Promise<Opened | undefined> {
    const chains = await readNow()
    for (const order of orders) if ((await compareOrder(order, chains, final)).length > 0) return order
    return undefined
  }

  async function compare(orders: readonly Opened[], final: boolean): Promise<string[]> {
    const chains = await readNow()
    const found = await Promise.all(orders.map(order => compareOrder(order, chains, final)))
    return [...found.flat(), ...(await compareLedgers(chains))]
  }

  async function compareOrder(order: Opened, chains: readonly ReadChain[], final: boolean): Promise<string[]> {
    const body = await call<OrderBody>(gateway, 'GET', `/api/v1/orders/${order.id}`, order.apiKey)
    const seen = toSeen(order, body)
    const offered = offeredTo(order, chains)
    const expected = expectedOf(seen, offered, FEE_BPS)
    givenAwayOf[order.merchant]?.set(order.id, expected.booked)
    const against = (must: Expected) => differences(seen, must, order.merchant === 0 && !final)
    // A listener that is put back while its chain stands still has confirmed nothing in its present history: its orders wait for the next block.
    const waits = offered.map(one => (time.standsStill(one.chainId) ? { ...one, confirmed: { ...one.confirmed, time: 0 } } : one))
    const mayWait = !final && against(expectedOf(seen, waits, FEE_BPS)).length === 0
    const wrong = mayWait ? [] : against(expected)
    wrong.push(...suspensionDifferences(order, body, services.suspended()))
    if (final) wrong.push(...hearingDifferences(seen, hearing(order), expected))
    if (order.returns.size > 0) wrong.push(...(await compareReturns(order, expected, chains, final)))
    return wrong.map(each => `order ${order.index} (${order.id}): ${each}`)
  }

  /** Each return of an order, its sums, and what the merchant was notified of. */
  async function compareReturns(
    order: Opened,
    { payments, statuses }: Expected,
    chains: readonly ReadChain[],
    final: boolean,
  ): Promise<string[]> {
    const list = await call<RefundListBody>(gateway, 'GET', `/api/v1/orders/${order.id}/refunds`, order.apiKey)
    const asked = [...order.returns.values()]
    const found = list.data.length === asked.length ? [] : [`${list.data.length} returns are listed, and ${asked.length} were made`]
    const must = asked.map(one => expectedReturnOf(one, chains, final))
    for (const [index, one] of asked.entries()) {
      const [seen, expected] = [list.data.find(({ id }) => id === one.id), must[index]]
      if (!seen || !expected) return [`return ${one.id} is not listed`]
      const shown = { status: seen.status, txHash: seen.tx_hash, validBefore: seen.valid_before }
      const wrong = returnDifferences(shown, expected)
      if (final) wrong.push(...noticeDifferences(await noticesOf(order, one), expected))
      found.push(...wrong.map(each => `return ${one.id}: ${each}`))
    }
    const came = payments.reduce((sum, { status, amount }) => (status === 'confirmed' ? sum + amount : sum), 0n)
    const [status = ''] = statuses
    const taken = status === 'paid' ? order.usdcUnits : 0n
    const sums = { came, leftOver: came > taken ? came - taken : 0n, isClosed: ['paid', 'expired', 'cancelled'].includes(status) }
    const seen = {
      ...{ came: units(list.came), promised: units(list.promised), returnable: units(list.returnable), surplus: units(list.surplus) },
    }
    const isCertain = statuses.length === 1 && must.every(one => one.statuses.length === 1)
    return isCertain ? [...found, ...orderDifferences(seen, asked, sums, one => returnedOf(one, chains) !== undefined)] : found
  }

  async function noticesOf(order: Opened, { id }: Asking): Promise<string[]> {
    const { data } = await call<List<EventBody>>(gateway, 'GET', `/api/v1/events?limit=100&order_id=${order.id}`, order.apiKey)
    return data.filter(event => event.type.startsWith('refund.') && Reflect.get(event.data, 'id') === id).map(({ type }) => type)
  }

  async function countReturns(orders: readonly Opened[], final: boolean, count: (name: string) => void): Promise<void> {
    const chains = await readNow()
    for (const asked of orders.flatMap(order => [...order.returns.values()])) {
      const [status] = expectedReturnOf(asked, chains, true).statuses
      count(`returns ${status} ${final ? 'at the end' : 'at a checkpoint'}`)
      if (final && status === 'confirmed' && !asked.isSubmitted) count('returns by the relayer alone')
    }
  }

  /** Every merchant's ledger against the token's transfers, and the fees of all of them together. */
  async function compareLedgers(chains: readonly ReadChain[]): Promise<string[]> {
    const fees: bigint[] = []
    const found = await Promise.all(
      merchants.map(async ({ body, paid }, index) => {
        const sums = await call<SummaryBody>(gateway, 'GET', `/api/v1/summary?${new URLSearchParams(BOOKS)}`, body.api_key)
        const file = await fetch(`${gateway}/api/v1/entries.csv`, { headers: { Authorization: `Bearer ${body.api_key}` } })
        const rows = (await file.text()).trim().split('\r\n').slice(1).map(toSeenEntry)
        const { gross, platform_fee, settled, waiting, given_away, returned: back } = sums.closing
        fees.push(signedUnits(platform_fee))
        const seen = {
          ...{ gross: signedUnits(gross), fee: signedUnits(platform_fee), settled: signedUnits(settled), waiting: signedUnits(waiting) },
          givenAway: signedUnits(given_away),
          returned: signedUnits(back),
          settledByMonth: Object.fromEntries(sums.periods.map(({ date, settled }) => [date.slice(0, 7), signedUnits(settled)])),
        }
        const givenAway = [...(givenAwayOf[index]?.values() ?? [])].reduce((sum, each) => sum + each, 0n)
        const asked = [...(returnsOf[index]?.values() ?? [])]
        const must = {
          ...added(
            chains.map(({ chainId, chain, confirmed }) =>
              movedMoney(chain, confirmed.block, paid.get(chainId) ?? [], depositsOf[index] ?? new Set()),
            ),
          ),
          ...{ givenAway, returned: asked.reduce((sum, one) => sum + (returnedOf(one, chains)?.amount ?? 0n), 0n) },
        }
        const wrong = [
          ...ledgerDifferences(seen, rows, must),
          ...chains.flatMap(({ chainId, chain }) => {
            const here = asked.filter(one => one.network.local.chainId === chainId)
            const addresses = new Set([...paid.values()].flat().map(({ address }) => address))
            return [...addresses].flatMap(address => walletDifferences(here, chain, address, OWN_ACCOUNT))
          }),
        ]
        return wrong.map(each => `ledger of merchant ${index}: ${each}`)
      }),
    )
    const fee = fees.reduce((sum, each) => sum + each, 0n)
    const taken = chains.reduce((sum, { chain, confirmed }) => sum + sentTo(chain, confirmed.block, feeReceiver), 0n)
    return [...found.flat(), ...(fee === taken ? [] : [`fees are ${fee} and must be ${taken}`])]
  }

  function hearing(order: Opened): Heard[] {
    const bodies = [...(merchants[order.merchant]?.receiver.taken ?? [])].map(body => JSON.parse(body))
    return bodies
      .filter(({ data }) => data.id === order.id)
      .map(({ type, data }) => ({ type, txHash: data.tx_hash ?? null, received: data.received ?? null }))
  }

  return {
    play,
    async stop() {
      services.bus.release()
      await services.stopAll()
      await kept?.database.forget()
      await orderBooks.end()
      await Promise.all(merchants.map(({ receiver }) => receiver.stop()))
      await world.stop()
    },
  }
}

/** Networks that stand still, as a payer sees them. */
function suspensionDifferences({ offered }: Opened, { payment }: OrderBody, suspended: number | null): string[] {
  const shown = (payment.networks ?? []).filter(network => network.suspended).map(({ chain_id }) => chain_id)
  const must = offered.filter(chainId => chainId === suspended)
  return shown.join() === must.join() ? [] : [`${shown.join() || 'no network'} is shown as suspended and must be ${must.join() || 'none'}`]
}

const offeredTo = ({ offered }: Opened, chains: readonly ReadChain[]) => chains.filter(({ chainId }) => offered.includes(chainId))

/** One connection for each question: a database that is put back has none meanwhile. */
const asking = (connectionString: string) => async (sql: string) => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Of the chain on which it was asked to go back. */
const chainOf = ({ network }: Asking, chains: readonly ReadChain[]): ReadChain => {
  const found = chains.find(({ chainId }) => chainId === network.local.chainId)
  if (!found) throw new RangeError('There is no such chain.')
  return found
}
const returnedOf = (asked: Asking, chains: readonly ReadChain[]) => {
  const { chain, confirmed } = chainOf(asked, chains)
  return returned(asked, chain, confirmed.block)
}
const expectedReturnOf = (asked: Asking, chains: readonly ReadChain[], isFinal: boolean) => {
  const { chain, confirmed } = chainOf(asked, chains)
  return expectedReturn(asked, chain, confirmed, isFinal)
}

/** Of no order, and another for each. */
const strayMemoOf = ({ memo }: Opened) => [...memo].reverse().join('')
const toleranceByDefault = (asked: bigint) => (asked / 100n < 10_000n ? asked / 100n : 10_000n)
const signedUnits = (decimal: string) => BigInt(decimal.replace('.', ''))
const toSeenEntry = (line: string): SeenEntry => {
  const [sequence, , kind, amount = '0'] = line.split(',')
  return { sequence: Number(sequence), kind: kind ?? '', units: signedUnits(amount) }
}

const toSeen = (order: Opened, body: OrderBody): SeenOrder => ({
  ...order,
  status: body.status,
  exception: body.exception,
  txHash: body.tx_hash,
  received: body.received,
  expected: body.expected,
  givenAway: body.accepted?.given_away ?? null,
  tolerance: body.payment_tolerance,
  payments: (body.payments ?? []) as SeenOrder['payments'],
})

function groupByTime(actions: readonly Action[]): [number, Action[]][] {
  const groups = new Map<number, Action[]>()
  for (const action of actions) groups.set(action.at, [...(groups.get(action.at) ?? []), action])
  return [...groups].sort(([a], [b]) => a - b)
}

/** Two or three of the bundled transfers that follow each other go out in one transaction. */
function bundleUp(random: Random, actions: readonly Action[]): Action[] {
  const bundled = actions.filter(({ does }) => does === 'bundled').toSorted((a, b) => a.at - b.at)
  const times = new Map<Action, number>()
  while (bundled.length > 0) {
    const together = bundled.splice(0, random.between(1, 4))
    for (const action of together) times.set(action, together[0]?.at ?? action.at)
  }
  return actions.map(action => ({ ...action, at: times.get(action) ?? action.at }))
}

/** A rate may be too old for a moment after the chain's clock has jumped. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries >= 40 || !/ answered 503:/.test(String(error))) throw error
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }
}

const decimal = (amount: bigint) => `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`
