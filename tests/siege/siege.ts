import { startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { PAYMENT_RECEIVED_TOPIC } from '@ponte/payment-router'
import { type Database, openDatabase } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { type HDNodeWallet, Wallet } from 'ethers'
import { call, createMerchant, startWorld, units, type World } from '../world'
import { startAttacker } from './attacker'
import { inLine } from './in-line'
import { handIn, signFor } from './signature'

export interface SiegeOptions {
  seconds: number
  /** An honest payer every so often; every second one signs, the others transfer. */
  everyMs: number
  attacked: boolean
}

export interface SiegeOutcome {
  /** From paying to `paid`, of each honest order. */
  paidMs: number[]
  unpaid: number
  /** Honest payers who signed, were refused, and made a transfer. */
  refused: number
  /** Honest orders that were paid more than once on the chain. */
  twice: number
  /** Cost of gas in USDC: for the attacker's orders, and for all. */
  attackerUsdc: number
  allUsdc: number
  budgetUsdc: number
  tricks: Record<string, number>
  /** Ends of the attacker's signatures, and of the relayer's transactions. */
  outcomes: Record<string, number>
  /** The slowest honest payers, and where they waited. */
  slowest: Slow[]
}

/** Milliseconds from paying: until the signature was taken, until a transaction was sent for it, and until `paid`. */
interface Slow {
  merchant: number
  by: 'signature' | 'transfer'
  takenMs: number
  sentMs: number | null
  offers: number | null
  failures: number | null
  paidMs: number | undefined
}

const PAID_WITHIN_MS = 120_000
/** Blocks of which logs are asked for at once. */
const SPAN = 100
const BUDGET_USDC = 20
/** So many honest merchants that half an hour of their payers fits their budgets; to each come the same payers again and again. */
const MERCHANTS = 12
const PAYERS = 3
/** A coin of 1,000 USDC; the budgets are the defaults, and the merchants have been served for longer than new ones. */
const SETTINGS = {
  COIN_USDC: '1000',
  GAS_NEW_MERCHANT_DAYS: '0',
  GAS_BUDGET_MERCHANT_DAY_USDC: String(BUDGET_USDC),
  RELAYER_GIVE_UP_MS: '30000',
  RELAYER_STUCK_MS: '5000',
}

/** Honest payers on a chain of a block a second, with or without one attacker who uses every trick at once. */
export async function siege({ seconds, everyMs, attacked }: SiegeOptions): Promise<SiegeOutcome> {
  const world = await startWorld({ amqp: testBroker(), chain: { blockTimeS: 1 } })
  const processes = await startProcesses(world.place, { 'chain-listener': SETTINGS })
  const books = openDatabase({ url: world.place.databaseUrl('chain-listener'), poolSize: 1 })
  const tricks: Record<string, number> = {}
  try {
    const merchants: Merchant[] = []
    for (let number = 0; number < MERCHANTS; number++)
      merchants.push({
        ...(await createMerchant(world, world.place.publicUrl, null)),
        payers: Array.from({ length: PAYERS }, () => Wallet.createRandom()),
      })
    const line = inLine()
    const mint: Mint = (to, amount) => line(() => world.chain.mintUsdc(to, amount))
    const links: string[] = []
    const openLink = async () => {
      const order = await openAt(world, merchants[0])
      links.push(order.id)
      return order
    }
    const count = (trick: string) => {
      tricks[trick] = (tricks[trick] ?? 0) + 1
    }
    const attacker = attacked ? await startAttacker(world, count, openLink) : undefined
    const payers: Promise<Paid & { merchant: number }>[] = []
    const ends = performance.now() + seconds * 1_000
    for (let number = 0; performance.now() < ends; number++) {
      const of = { merchant: number % MERCHANTS, time: Math.floor(number / MERCHANTS) }
      const payer = payHonestly(world, mint, merchants[of.merchant], of.time, order => attacker?.see(order)).then(one => ({
        ...one,
        ...of,
      }))
      payer.catch(() => undefined)
      payers.push(payer)
      await new Promise(resolve => setTimeout(resolve, everyMs))
    }
    const paid = await Promise.all(payers)
    await attacker?.stop()
    const payments = await paymentsByMemo(world)
    const spent = async (where: string, values: unknown[]) =>
      Number(
        (await books.query<{ usdc: string }>(`SELECT coalesce(sum(cost_units), 0) / 1e6 AS usdc FROM relays ${where}`, values)).rows[0]
          ?.usdc,
      )
    const { rows } = await books.query<{ what: string; n: number }>(
      `SELECT concat('signature ', state, ' ', reason) AS what, count(*)::int AS n FROM authorizations GROUP BY 1
       UNION ALL SELECT concat(kind, ' ', outcome), count(*)::int FROM relays GROUP BY 1 ORDER BY 1`,
    )
    return {
      paidMs: paid.flatMap(({ ms }) => ms ?? []),
      unpaid: paid.filter(({ ms }) => ms === undefined).length,
      refused: paid.filter(({ wasRefused }) => wasRefused).length,
      twice: paid.filter(({ order }) => (payments.get(order.memo) ?? 0) > 1).length,
      attackerUsdc: attacker ? await spent('WHERE $1 = ANY(merchants) OR order_ids && $2::uuid[]', [attacker.merchantId, links]) : 0,
      allUsdc: await spent('', []),
      // Sweeps and signatures have a budget each.
      budgetUsdc: 2 * BUDGET_USDC,
      tricks,
      outcomes: Object.fromEntries(rows.map(({ what, n }) => [what, n])),
      slowest: await slowestOf(books, paid),
    }
  } finally {
    await books.stop?.()
    await processes.stop()
    await world.stop()
  }
}

type Mint = World['chain']['mintUsdc']
type Merchant = Awaited<ReturnType<typeof createMerchant>> & { payers: HDNodeWallet[] }

type Paid = Awaited<ReturnType<typeof payHonestly>>

const SLOWEST = 12

async function slowestOf(books: Database, paid: readonly (Paid & { merchant: number })[]): Promise<Slow[]> {
  const slow = [...paid].sort((a, b) => (b.ms ?? Infinity) - (a.ms ?? Infinity)).slice(0, SLOWEST)
  const { rows } = await books.query<{ order_id: string; sent: Date; offers: number; failures: number }>(
    `SELECT order_id, relays.created_at AS sent, cardinality(raws) AS offers, failures
     FROM authorizations JOIN relays ON relays.order_ids @> ARRAY[order_id] AND relays.kind = 'authorization' WHERE order_id = ANY($1)`,
    [slow.map(({ order }) => order.id)],
  )
  const relayed = new Map(rows.map(row => [row.order_id, row]))
  return slow.map(({ order, merchant, byWhat, paidAt, takenMs, ms }) => {
    const relay = byWhat === 'signature' ? relayed.get(order.id) : undefined
    const sentMs = relay ? relay.sent.getTime() - paidAt : null
    return { merchant, by: byWhat, takenMs, sentMs, offers: relay?.offers ?? null, failures: relay?.failures ?? null, paidMs: ms }
  })
}

const openAt = (world: World, merchant: Merchant | undefined) =>
  call<OrderBody>(world.place.publicUrl, 'POST', '/api/v1/orders', merchant?.api_key ?? '', { brl_amount: '150.00' })

/** Opens an order and pays it, by a signature every second time; answers how long it took to be `paid`, undefined when it did not come to that. */
async function payHonestly(world: World, mint: Mint, merchant: Merchant | undefined, time: number, see: (order: OrderBody) => void) {
  const order = await openAt(world, merchant)
  const payer = merchant?.payers[time % PAYERS]
  const amount = units(order.usdc_amount)
  const isPaid = async () =>
    (await call<OrderBody>(world.place.publicUrl, 'GET', `/api/v1/orders/${order.id}`, merchant?.api_key ?? '')).status === 'paid'
  const signs = payer !== undefined && time % 2 === 0
  if (signs) await (await mint(payer.address, amount)).wait()
  const [since, paidAt] = [performance.now(), Date.now()]
  let status = 0
  if (signs) {
    const body = await signFor(world, order, payer, amount)
    do {
      if (status === 503) await new Promise(resolve => setTimeout(resolve, 500))
      status = await handIn(world, order, body)
    } while (status === 503)
  }
  const wasRefused = signs && status !== 202
  const takenMs = performance.now() - since
  const byWhat: Slow['by'] = status === 202 ? 'signature' : 'transfer'
  if (status !== 202) {
    await mint(order.payment.deposit_address ?? '', amount)
    see(order)
  }
  while (!(await isPaid())) {
    if (performance.now() - since > PAID_WITHIN_MS) return { order, ms: undefined, wasRefused, byWhat, paidAt, takenMs }
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  return { order, ms: performance.now() - since, wasRefused, byWhat, paidAt, takenMs }
}

/** Payments of the router by memo; read in spans that a busy node answers in time. */
async function paymentsByMemo({ chain }: World): Promise<Map<string, number>> {
  const [counts, head] = [new Map<string, number>(), await chain.provider.getBlockNumber()]
  for (let fromBlock = 0; fromBlock <= head; fromBlock += SPAN) {
    const filter = { address: chain.routerAddress, topics: [PAYMENT_RECEIVED_TOPIC], fromBlock, toBlock: fromBlock + SPAN - 1 }
    for (const { topics } of await chain.provider.getLogs(filter)) {
      const memo = (topics[1] ?? '').slice(2)
      counts.set(memo, (counts.get(memo) ?? 0) + 1)
    }
  }
  return counts
}
