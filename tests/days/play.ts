import { createHash } from 'node:crypto'
import {
  type AttentionItemBody,
  type ChainBlocks,
  formatUsdc,
  type List,
  type MerchantTerms,
  NO_MEMO,
  type OrderBody,
  parseUsdc,
  type RefundBody,
  type SummaryBody,
} from '@ponte/contracts'
import type { LocalChain } from '@ponte/local-servers'
import { until, uuidv7 } from '@ponte/service-kit'
import { createRandom, weighted } from '@ponte/service-kit/testing'
import { Wallet } from 'ethers'
import type { Asked, Block, Step, Transaction, Transfer } from './facts'
import { monthStart } from './oracle'
import type { Orders } from './orders'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ZERO = `0x${'0'.repeat(40)}`
const FEE_BPS = 100n
/** A block that the play may take away is one of the newest. */
const REORGANISED_MAX = 8
/** Its orders are never made with an address that the service does not know yet. */
const LATE_NEWS_MS = 5 * HOUR

export const PLATFORM = `0x${'fe'.repeat(20)}`

export interface Merchant {
  terms: MerchantTerms
  wallet: Wallet
  /** The service has been notified of its present address. */
  isKnown: boolean
}

export interface Played {
  steps: Step[]
  merchants: Merchant[]
  /** Counts of each thing that happened. */
  counts: Record<string, number>
  end: number
}

/** Facts that the listener reports of a block, without the block's own fields. */
interface Reported {
  payments?: Omit<ChainBlocks['payments'][number], keyof ReturnType<typeof placeOf> | 'is_confirmed'>[]
  sweeps?: Omit<ChainBlocks['sweeps'][number], keyof ReturnType<typeof placeOf>>[]
}

interface Mined {
  block: Block
  reported: Reported
  isConfirmed: boolean
  isGone: boolean
  /** Something was decided by it that no reorganisation may undo. */
  isKept: boolean
}

const placeOf = ({ number, hash, time, transaction }: Block) => ({
  ...{ block_number: number, block_hash: hash, block_time: new Date(time).toISOString(), tx_hash: transaction.hash },
})
const hashOf = (...parts: unknown[]) => `0x${createHash('sha256').update(parts.join(' ')).digest('hex')}`

/** Days of two merchants, as payers, strangers, merchants and the chain make them. The same seed is the same days, except for ids. */
export async function playDays(service: Orders, chain: LocalChain, options: { seed: number; from: number; days: number }): Promise<Played> {
  const { seed, from, days } = options
  const random = createRandom(seed)
  const steps: Step[] = []
  const counts: Record<string, number> = {}
  const happened = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  let now = from
  let agenda: { at: number; act: () => Promise<void> }[] = []
  const end = from + days * DAY
  const later = (ms: number, act: () => Promise<void>) => void agenda.push({ at: now + Math.floor(ms / 1_000) * 1_000, act })
  const span = (min: number, max: number) => random.between(min, max)

  const generation = uuidv7()
  const lease = uuidv7()
  let version = 0
  let height = 0
  let transactions = 0
  let revision = 0
  let confirmed = 999_999
  const mined: Mined[] = []
  const [router, token] = [chain.routerAddress.toLowerCase(), chain.usdcAddress.toLowerCase()]
  const publishBlocks = (change: Partial<ChainBlocks>) =>
    service.publish(
      'chain.blocks',
      {
        ...{
          chain_id: 31_337,
          generation,
          lease,
          version: ++version,
          earlier: [],
          since: 1_000_000,
          head: 1_000_000 + height,
          advanced: null,
        },
        ...{ gone: [], payments: [], sweeps: [], watched: [], ...change },
      },
      now,
      random.chance(0.1) ? 2 : 1,
    )
  const publishBlock = ({ block, reported }: Mined, isConfirmed: boolean) =>
    publishBlocks({
      payments: (reported.payments ?? []).map(each => ({ ...each, ...placeOf(block), is_confirmed: isConfirmed })),
      sweeps: isConfirmed ? (reported.sweeps ?? []).map(each => ({ ...each, ...placeOf(block) })) : [],
    })

  /** Most blocks are confirmed within minutes; some only after the listener was away for hours or days. */
  const delay = () =>
    weighted(random, [
      [80, () => span(2 * MINUTE, 20 * MINUTE)],
      [17, () => span(HOUR, 30 * HOUR)],
      [3, () => span(2 * DAY, 6 * DAY)],
    ])()

  async function happen(transaction: Transaction, reported: Reported, done?: (one: Mined) => Promise<void>): Promise<Mined> {
    const block = { number: ++height, hash: hashOf(transaction.hash, height), time: now, transaction }
    const one = { block, reported, isConfirmed: false, isGone: false, isKept: false }
    mined.push(one)
    if (random.chance(0.5)) await publishBlock(one, false)
    later(delay(), async () => {
      if (one.isGone) return
      one.isConfirmed = true
      steps.push({ at: now, kind: 'confirmed', block })
      await publishBlock(one, true)
      await done?.(one)
    })
    return one
  }

  async function reorganise(): Promise<void> {
    const newest = mined.slice(-REORGANISED_MAX).filter(({ isGone, isKept }) => !isGone && !isKept)
    if (newest.length === 0) return
    const one = random.pick(newest)
    one.isGone = true
    if (one.isConfirmed) steps.push({ at: now, kind: 'gone', block: one.block })
    happened(one.isConfirmed ? 'confirmed blocks that vanished' : 'blocks that vanished')
    await publishBlocks({ gone: [one.block.hash] })
    const { transaction } = one.block
    if (random.chance(0.7)) later(span(MINUTE, 2 * DAY), async () => void (await happen(transaction, one.reported)))
  }

  const hash = () => hashOf(seed, 'transaction', ++transactions)
  const stranger = () =>
    `0x${createHash('sha256')
      .update(`${seed} stranger ${random.between(0, 50)}`)
      .digest('hex')
      .slice(0, 40)}`
  const split = (payer: string, payout: string, gross: bigint): Transfer[] => {
    const fee = (gross * FEE_BPS) / 10_000n
    return [
      { from: payer, to: PLATFORM, units: fee },
      { from: payer, to: payout, units: gross - fee },
    ]
  }
  const log = (payer: string, gross: bigint, memo: string, payout: string, index: number) => ({
    ...{ log_index: index, memo, router_address: router, token_address: token, merchant_address: payout, payer_address: payer },
    amount: formatUsdc(gross),
  })
  const direct = (payer: string, payout: string, gross: bigint, index: number) => ({
    ...log(payer, gross, NO_MEMO, payout, index),
    ...{ router_address: ZERO, kind: 'transfer' as const, deposit_address: payout },
  })

  type Done = (one: Mined) => Promise<void>
  /** Through the router; some payers send something beside it in the same transaction. */
  async function routed(memo: string, payout: string, gross: bigint, done?: Done): Promise<Mined> {
    const payer = stranger()
    const extra = random.chance(0.06) ? BigInt(span(1, 90_000_000)) : 0n
    if (extra > 0n) happened('transactions of two kinds')
    const before = extra > 0n ? [{ from: payer, to: payout, units: extra }] : []
    const transfers = [...before, ...split(payer, payout, gross)]
    const paid = { ...log(payer, gross, memo, payout, transfers.length - 1), kind: 'router' as const, deposit_address: null }
    const payments = [...(extra > 0n ? [direct(payer, payout, extra, 0)] : []), paid]
    return happen({ hash: hash(), memo, nonce: null, transfers }, { payments }, done)
  }
  async function transferred(order: Asked, deposit: string, gross: bigint, done?: Done): Promise<Mined> {
    const payer = stranger()
    const payments = [{ ...log(payer, gross, order.memo, order.payout, 0), kind: 'transfer' as const, deposit_address: deposit }]
    const transfers = [{ from: payer, to: deposit, units: gross }]
    return happen({ hash: hash(), memo: null, nonce: null, transfers }, { payments }, done)
  }
  const pay = (order: Asked, gross: bigint, done?: Done) => {
    if (order.deposit === null || random.chance(0.5)) return routed(order.memo, order.payout, gross, done)
    return transferred(order, order.deposit, gross, done)
  }
  async function swept(deposit: string, memo: string, payout: string, gross: bigint): Promise<void> {
    const transfers = split(deposit, payout, gross)
    const fee = formatUsdc(transfers[0]?.units ?? 0n)
    await happen(
      { hash: hash(), memo, nonce: null, transfers },
      { sweeps: [{ ...log(deposit, gross, memo, payout, 1), deposit_address: deposit, fee }] },
    )
  }
  const taken = new Map<string, bigint>()
  async function sweep(order: Asked): Promise<void> {
    const { deposit } = order
    if (deposit === null) return
    const came = mined
      .filter(({ isConfirmed, isGone }) => isConfirmed && !isGone)
      .flatMap(({ block }) => block.transaction.transfers.filter(({ to }) => to === deposit))
      .reduce((sum, { units }) => sum + units, 0n)
    const gross = came - (taken.get(deposit) ?? 0n)
    if (gross < 100n) return
    taken.set(deposit, came)
    happened('sweeps')
    await swept(deposit, order.memo, order.payout, gross)
  }

  const addressOf = (wallet: Wallet) => wallet.address.toLowerCase()
  const walletOf = (name: string) => new Wallet(hashOf(seed, 'wallet', name))
  async function paidAt(merchant: Merchant, wallet: Wallet, isLate: boolean): Promise<void> {
    merchant.wallet = wallet
    merchant.terms = { ...merchant.terms, version: merchant.terms.version + 1, payout_address: wallet.address }
    merchant.isKnown = false
    const { merchant_id, version: number, display_name } = merchant.terms
    const since = now
    const notify = async () => {
      merchant.isKnown = true
      steps.push({ at: now, kind: 'payout', merchant: merchant_id, version: number, address: addressOf(wallet), since })
      const settings = { merchant_id, version: number, display_name, payout_address: wallet.address, webhook_url: null }
      const secrets = { sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null }
      await service.publish('merchant.updated', { ...settings, ...secrets }, since)
    }
    happened(isLate ? 'payout addresses that were known late' : 'payout addresses')
    if (isLate) later(span(MINUTE, LATE_NEWS_MS), notify)
    else await notify()
  }

  async function ask(merchant: Merchant): Promise<Asked> {
    const cents = span(200, 400_000)
    const body = { brl_amount: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, expires_in: 3_600 }
    const order = await service.call<OrderBody>(merchant.terms, 'POST', '/orders', body)
    if (!order) throw new Error('an order was refused')
    const asked = {
      ...{ id: order.id, merchant: merchant.terms.merchant_id, memo: order.memo, payout: order.payment.merchant_address.toLowerCase() },
      ...{ deposit: order.payment.deposit_address?.toLowerCase() ?? null, units: parseUsdc(order.usdc_amount), rate: 5_420_000n },
    }
    steps.push({ at: now, kind: 'asked', order: asked })
    await publishBlocks({ watched: [{ order_id: order.id, through: 0 }] })
    return asked
  }

  const part = (units: bigint, min: number, max: number) => (units * BigInt(span(min, max))) / 100n + 1n
  const keep = (one: Mined) => {
    one.isKept = true
  }

  async function returnMoney(merchant: Merchant, wallet: Wallet, order: Asked): Promise<void> {
    const payee = walletOf(`payee ${transactions}`).address
    const body = { amount: formatUsdc(part(order.units, 10, 60)), payee_address: payee, reason: 'It came back' }
    const refund = await service.call<RefundBody>(merchant.terms, 'POST', `/orders/${order.id}/refunds`, body)
    if (!refund?.typed_data) return
    const { domain, types, message } = refund.typed_data
    const signature = await wallet.signTypedData(domain, types, message)
    const signed = { valid_before: Number(message.validBefore), signature }
    if (!(await service.call(merchant.terms, 'POST', `/refunds/${refund.id}/signature`, signed))) return
    steps.push({ at: now, kind: 'promised', nonce: refund.nonce, orderId: order.id })
    const transfers = [{ from: addressOf(wallet), to: payee.toLowerCase(), units: parseUsdc(refund.amount) }]
    const transaction = { hash: hash(), memo: null, nonce: refund.nonce, transfers }
    const observe = (block: Block | null) =>
      service.publish('refund.observed', {
        ...{
          chain_id: 31_337,
          generation,
          revision: ++revision,
          refund_id: refund.id,
          order_id: order.id,
          from_address: refund.from_address,
        },
        ...{
          payee_address: refund.payee_address,
          amount: refund.amount,
          nonce: refund.nonce,
          watch_from: 1,
          valid_before: signed.valid_before,
        },
        ...{ block_number: 1_000_000 + height, block_time: new Date(now).toISOString(), wallet_balance: null },
        end: block && {
          kind: 'transferred',
          tx_hash: transaction.hash,
          log_index: 0,
          block_number: block.number,
          block_time: new Date(block.time).toISOString(),
        },
      })
    const mine = () => {
      const block = { number: ++height, hash: hashOf(transaction.hash, height), time: now, transaction }
      later(span(2 * MINUTE, 40 * MINUTE), async () => {
        steps.push({ at: now, kind: 'confirmed', block })
        await observe(block)
        happened('refunds')
        if (!random.chance(0.2)) return
        later(span(MINUTE, 3 * DAY), async () => {
          happened('refunds that vanished')
          steps.push({ at: now, kind: 'gone', block })
          await observe(null)
          later(span(MINUTE, 3 * HOUR), async () => mine())
        })
      })
    }
    later(span(MINUTE, 6 * HOUR), async () => mine())
  }

  async function attach(merchant: Merchant, one: Mined, order: Asked): Promise<void> {
    const found = await service.call<List<AttentionItemBody>>(merchant.terms, 'GET', `/attention?text=${one.block.transaction.hash}`)
    const item = found?.data.find(({ payment }) => payment?.tx_hash === one.block.transaction.hash)
    if (!item || one.isGone) return
    const body = { order_id: order.id, reason: 'The memo was typed wrong' }
    if (!(await service.call(merchant.terms, 'POST', `/attention/${item.id}/attach`, body))) return
    steps.push({ at: now, kind: 'attached', blockHash: one.block.hash, orderId: order.id })
    happened('attached payments')
  }

  /** One order and what becomes of it. */
  async function trade(merchant: Merchant): Promise<void> {
    const order = await ask(merchant)
    const { units } = order
    const { wallet } = merchant
    const soon = () => span(MINUTE, 30 * MINUTE)
    const paid = (gross: bigint, done?: Done) => async () => void (await pay(order, gross, done))
    const unknown = hashOf(seed, 'memo', transactions).slice(2)
    weighted(random, [
      [22, () => later(soon(), paid(units))],
      [14, () => later(soon(), paid(part(units, 30, 90)))],
      [
        10,
        () => {
          later(soon(), paid(part(units, 30, 50)))
          later(soon(), paid(part(units, 51, 80)))
        },
      ],
      [8, () => later(soon(), paid(part(units, 105, 180)))],
      [
        8,
        () => {
          happened('duplicates')
          later(soon(), paid(units))
          later(span(31 * MINUTE, 20 * HOUR), paid(units))
        },
      ],
      [
        10,
        () => {
          happened('late payments')
          later(span(2 * HOUR, 4 * DAY), paid(units))
        },
      ],
      [
        6,
        () => {
          later(span(MINUTE, 5 * MINUTE), async () => {
            if (await service.call(merchant.terms, 'POST', `/orders/${order.id}/cancel`)) happened('cancelled orders')
          })
          later(span(6 * MINUTE, DAY), paid(units))
        },
      ],
      [
        8,
        () =>
          later(
            soon(),
            paid(part(units, 60, 95), async one => {
              if (
                one.isGone ||
                !(await service.call(merchant.terms, 'POST', `/orders/${order.id}/accept`, { reason: 'An exchange kept it' }))
              )
                return
              // The accepted one stands: its chain keeps it.
              for (const each of mined)
                if (each.block.transaction.memo === order.memo || each.block.transaction.transfers.some(({ to }) => to === order.deposit))
                  keep(each)
              steps.push({ at: now, kind: 'accepted', orderId: order.id })
              happened('accepted orders')
            }),
          ),
      ],
      [
        9,
        () =>
          later(soon(), async () => {
            happened('payments with a wrong memo')
            await routed(unknown, order.payout, units, async one => {
              if (random.chance(0.6)) later(span(MINUTE, 2 * DAY), () => attach(merchant, one, order))
            })
          }),
      ],
      [
        3,
        () =>
          later(soon(), async () => {
            happened('payments to another address than the order`s')
            await routed(order.memo, addressOf(random.pick(merchants).wallet), units)
          }),
      ],
      [
        2,
        () =>
          later(soon(), async () => {
            happened('sweeps of an address that no order has')
            await swept(`0x${hashOf(seed, 'deposit', transactions).slice(2, 42)}`, unknown, order.payout, units)
          }),
      ],
    ])()
    for (const wait of [span(2 * HOUR, DAY), span(5 * DAY, 9 * DAY)]) later(wait, () => sweep(order))
    if (random.chance(0.25)) later(span(2 * HOUR, 3 * DAY), () => returnMoney(merchant, wallet, order))
  }

  /** Transfers past the router: to a payout address of now or of before, from it, and from it to itself. */
  async function transfer(): Promise<void> {
    const payout = random.pick(used)
    const gross = BigInt(span(1, 900_000_000))
    const payer = stranger()
    if (random.chance(0.15)) {
      happened('transfers from a payout address')
      const to = random.chance(0.5) ? payout : payer
      // The listener reports no transfer of an address to itself.
      await happen({ hash: hash(), memo: null, nonce: null, transfers: [{ from: payout, to, units: gross }] }, {})
      return
    }
    happened('direct transfers')
    await happen(
      { hash: hash(), memo: null, nonce: null, transfers: [{ from: payer, to: payout, units: gross }] },
      { payments: [direct(payer, payout, gross, 0)] },
    )
  }

  const merchants = ['Padaria Estrela', 'Oficina do Sol'].map((display_name, index): Merchant => {
    const wallet = walletOf(`payout ${index} 0`)
    return { terms: { merchant_id: uuidv7(), version: 0, display_name, payout_address: null }, wallet, isKnown: false }
  })
  const [first, second] = merchants
  if (!first || !second) throw new Error('there are two merchants')
  await service.setClock(now)
  const used = merchants.map(({ wallet }) => addressOf(wallet))
  for (const merchant of merchants) await paidAt(merchant, merchant.wallet, false)

  // The second one is paid at last where the first one was at first.
  const changes: [number, Merchant, Wallet][] = [
    [0.25, first, walletOf('payout 0 1')],
    [0.45, second, walletOf('payout 1 1')],
    [0.6, first, walletOf('payout 0 2')],
    [0.75, second, walletOf('payout 0 0')],
  ]
  for (const [share, merchant, wallet] of changes)
    later(share * days * DAY + span(0, DAY), async () => {
      if (!used.includes(addressOf(wallet))) used.push(addressOf(wallet))
      await paidAt(merchant, wallet, random.chance(0.6))
    })

  /** Much happens at the ends of days, and some of it to the second. */
  const moment = () =>
    weighted(random, [
      [70, () => span(0, DAY)],
      [12, () => 3 * HOUR + random.pick([-1_000, 0, 1_000])],
      [10, () => 3 * HOUR + span(-40 * MINUTE, 10 * MINUTE)],
      [8, () => random.pick([0, 4, 5, 7, 15]) * HOUR + random.pick([-1_000, 0])],
    ])()
  const early = (at: number) => (at < 0 ? at + DAY : at)
  for (let day = 0; day < days; day++) {
    const at = (act: () => Promise<void>) => later(day * DAY + early(moment()), act)
    for (let count = span(0, 4); count > 0; count--)
      at(async () => {
        const merchant = random.pick(merchants)
        if (merchant.isKnown) await trade(merchant)
      })
    if (random.chance(0.6)) at(transfer)
    if (random.chance(0.5)) at(reorganise)
    at(async () => {
      const [start, before] = [confirmed + 1, now]
      confirmed += 10
      steps.push({ at: now, kind: 'advanced', time: now })
      await publishBlocks({ advanced: { from: start, to: confirmed, time: new Date(before).toISOString() } })
      await service.due()
      const closed = new Date(monthStart(now)).toISOString()
      const isClosed = async () => {
        const days = { from: '2026-01-01', to: '2026-01-01', timezone: 'UTC' }
        const summary = await service.call<SummaryBody>(first.terms, 'GET', `/summary?${new URLSearchParams(days)}`)
        return summary?.closed_through === closed
      }
      await until(isClosed, () => `the month before ${closed} is not closed`, 30_000)
    })
  }
  while (agenda.length > 0) {
    const next = agenda.reduce((soonest, each) => (each.at < soonest.at ? each : soonest))
    agenda = agenda.filter(each => each !== next)
    now = next.at
    // Whatever is still under way at the end comes to its end, and nothing new begins.
    if (now > end + 12 * DAY) continue
    await service.setClock(now)
    await next.act()
  }
  await service.idle()
  return { steps, merchants, counts, end: now }
}
