import { type Event, type EventType, parseEvent, subscription } from '@ponte/contracts'
import { openDatabase, readConfig, signCaller, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { createSubscriptions, subscriptionsConfig, subscriptionsMigrations } from '@ponte/subscriptions'
import { DAY_S, type PeriodOutcome, type PeriodTrace, paidData, periodDifferenceAt, reais, UNIT_CENTAVOS } from './period-traces'
import { type BusKind, startBus } from './running'

const TOKEN_SECRET = 'a-test-secret-of-at-least-32-characters'
const PAYOUT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const MERCHANT = '01981f3c-0000-7000-8000-000000000001'
const terms = { merchant_id: MERCHANT, version: 1, display_name: 'Padaria', payout_address: PAYOUT }
const authorization = () => `Bearer ${signCaller({ kind: 'merchant', terms }, { secrets: [TOKEN_SECRET], audience: 'subscriptions' })}`

/** Between two steps of a day: an order that is not answered is waited for by the scheduler for less. */
const STEP_MS = 20_000
/** What the plan takes part in; the others are of orders. */
const STEPS = new Set(['init', 'tick', 'look', 'hear'])
/** From one run to the next, whose plan begins anew. */
const RUN_MS = 30 * DAY_S * 1_000

/** The running service of subscriptions on a database and a bus of its own, which one run after the other is replayed into, each with a plan of its own. */
export async function startRunningPlans(kind: BusKind) {
  const database = await testDatabase(subscriptionsMigrations)
  const { bus, stop } = await startBus(kind, 'subscriptions')
  const config = readConfig(subscriptionsConfig, {
    ...{ DATABASE_URL: database.url, AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' },
    ...{ GATEWAY_TOKEN_SECRET: TOKEN_SECRET, PUBLIC_URL: 'http://127.0.0.1:8080', SCHEDULER_MS: '20' },
  })
  let now = new Date('2026-01-01T00:00:00Z')
  const service = createSubscriptions(config, { bus, logger: silentLogger, now: () => now })
  await service.start()
  const sql = openDatabase({ url: database.url, poolSize: 2 })
  const url = `http://127.0.0.1:${service.http.port()}/api/v1/subscriptions`
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: authorization(), 'Content-Type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return subscription.parse(await answer.json())
  }
  const deciding = service.parts.filter(({ name }) => name === 'scheduler' || name === 'subscriptions events')
  const isDeciding = async () => (await Promise.all(deciding.map(part => part.busy?.()))).some(Boolean)
  const idle = () => until(async () => !(await isDeciding()) && !(await isDeciding()), 'the plans do not come to rest')
  const publish = async <T extends EventType>(type: T, data: Extract<Event, { type: T }>['data']) => {
    const event = parseEvent({ id: uuidv7(), type, occurred_at: now.toISOString(), data, trace: null })
    const isTaken = () =>
      bus.publish({ id: event.id, type, body: JSON.stringify(event) }).then(
        () => true,
        () => false,
      )
    await until(isTaken, 'the bus takes nothing')
    const isRead = async () => (await sql.query('SELECT 1 FROM inbox WHERE event_id = $1', [event.id])).rowCount === 1
    await until(isRead, `${type} is not read`)
  }
  let [version, begins] = [1, now.getTime()]
  const address = async (isSet: boolean) => {
    version++
    await publish('merchant.updated', {
      ...{ merchant_id: MERCHANT, version, display_name: 'Padaria', payout_address: isSet ? PAYOUT : null },
      ...{ webhook_url: null, sealed_webhook_secret: 'x', sealed_pending_webhook_secret: null, pending_webhook_secret_activates_at: null },
    })
    await idle()
  }

  /** Names the first look after which the two differ, null when there is none. */
  async function difference(trace: PeriodTrace): Promise<string | null> {
    begins += RUN_MS
    now = new Date(begins)
    await address(true)
    let hasAddress = true
    const plan = { interval: 'day', interval_count: 4, order_expires_in: DAY_S, upcoming_notice: 0 }
    const dunning = { retry_after: [2 * DAY_S], unpaid_periods_max: 1, when_unpaid: 'cancel' }
    const { id } = await ask('POST', '', { brl_amount: reais(4), ...plan, ...dunning })
    const attempts = async () =>
      (
        await sql.query<Attempt>(
          `SELECT order_id AS "orderId", period_index AS period, issued_at AS "issuedAt", ends_at AS "endsAt", brl_centavos AS centavos, status
           FROM attempts WHERE subscription_id = $1 ORDER BY issued_at`,
          [id],
        )
      ).rows
    for (const [index, { action_, now: day, asked }] of trace.entries()) {
      if (!STEPS.has(action_.name)) continue
      now = new Date(begins + day * DAY_S * 1_000 + index * STEP_MS)
      const { name, kind, units } = action_
      if (name === 'look' && hasAddress !== (kind === '')) {
        hasAddress = kind === ''
        await address(hasAddress)
      }
      if (name === 'hear') {
        const orderId = (await attempts())[action_.order]?.orderId ?? ''
        await report(id, orderId, kind, reais((asked[action_.order]?.units ?? 0) - units), units)
      }
      await idle()
      const found = name === 'look' ? periodDifferenceAt(trace, index, await outcomeOf(id, await attempts())) : null
      if (found) return found
    }
    await ask('POST', `/${id}/cancel`)
    return null
  }

  function report(subscriptionId: string, orderId: string, kind: string, missing: string, units: number): Promise<void> {
    const owned = { merchant_id: MERCHANT, merchant_version: 1 }
    const which = { ...owned, subscription_id: subscriptionId, order_id: orderId }
    const order = { ...paidData(orderId), subscription_id: subscriptionId }
    if (kind === 'paid') return publish('order.paid', { ...owned, order })
    if (kind === 'received') return publish('order.received', { ...which, revision: units, missing_brl_amount: missing, order })
    if (kind === 'refused' || kind === 'lapsed')
      return publish('order.refused', { ...which, reason: kind === 'lapsed' ? 'lapsed' : 'rate_unavailable' })
    const closed = { ...owned, subscription_id: subscriptionId, order: { id: orderId, external_ref: null } }
    return kind === 'expired' ? publish('order.expired', closed) : publish('order.cancelled', closed)
  }

  async function outcomeOf(id: string, all: readonly Attempt[]): Promise<PeriodOutcome> {
    const { status } = await ask('GET', `/${id}`)
    const { rows } = await sql.query<{ type: string; order: string | null }>(
      `SELECT type, body::jsonb->'data'->>'order_id' AS order FROM outbox
       WHERE body::jsonb->'data'->>'subscription_id' = $1 OR body::jsonb->'data'->'subscription'->>'id' = $1`,
      [id],
    )
    const orders = all.filter(({ period }) => period === 0)
    const unwanted = new Set(rows.filter(({ type }) => type === 'subscription.order_superseded').map(({ order }) => order))
    const days = (at: Date) => Math.floor((at.getTime() - begins) / (DAY_S * 1_000))
    return {
      plan: status,
      charged: rows.filter(({ type }) => type === 'subscription.charged').length,
      dunned: rows.filter(({ type }) => type === 'subscription.past_due').length,
      unwanted: orders.flatMap(({ orderId }, index) => (unwanted.has(orderId) ? [index] : [])),
      goesOn: all.some(({ period }) => period > 0),
      orders: orders.map(({ issuedAt, endsAt, centavos, status: of }) => [
        ...([days(issuedAt), endsAt ? days(endsAt) : -1, Number(centavos) / Number(UNIT_CENTAVOS)] as const),
        of,
      ]),
    }
  }

  return {
    difference,
    async stop() {
      await service.stop()
      await stop()
      await sql.stop?.()
      await database.drop()
    },
  }
}

interface Attempt {
  orderId: string
  period: number
  issuedAt: Date
  endsAt: Date | null
  centavos: string
  status: string
}
