import { topology } from '@ponte/contracts'
import { rabbitmqBus, silentLogger, until, uuidv7 } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { PAYOUT, startSubscriptions } from '../../services/subscriptions/test/setup'
import { DAY_S, type PeriodOutcome, type PeriodTrace, periodDifferenceAt, reais, UNIT_CENTAVOS } from './period-traces'
import type { BusKind } from './running'

/** Between two steps of a day: an order that is not answered is waited for by the scheduler for less. */
const STEP_MS = 20_000
/** What the plan takes part in; the others are of orders. */
const STEPS = new Set(['init', 'tick', 'look', 'hear'])
/** From one run to the next, whose plan begins anew. */
const RUN_MS = 30 * DAY_S * 1_000

/** The running service of subscriptions on a database and a bus of its own, which one run after the other is replayed into, each with a plan of its own. */
export async function startRunningPlans(kind: BusKind) {
  const broker = testBroker()
  const bus = kind === 'memory' ? undefined : rabbitmqBus({ url: broker.url, namespace: broker.namespace, topology, logger: silentLogger })
  if (bus) await bus.start?.()
  if (bus) await until(() => bus.accepts(), 'there is no broker')
  const system = await startSubscriptions({ start: '2026-01-01T00:00:00Z', ...(bus ? { bus } : {}) })
  // The reports are the run's, and none is given by itself.
  system.state.ordersDown = true
  let [version, begins] = [1, system.clock.now.getTime()]

  const isRead = async (id: string) => (await system.sql.query('SELECT 1 FROM inbox WHERE event_id = $1', [id])).rowCount === 1
  const address = async (isSet: boolean) => {
    version++
    await system.merchant(version, isSet ? PAYOUT : null)
    const isKnown = async () => (await system.sql.query('SELECT 1 FROM merchants WHERE version = $1', [version])).rowCount === 1
    await until(isKnown, 'the payout address is not known')
    await system.idle()
  }

  /** Names the first look after which the two differ, null when there is none. */
  async function difference(trace: PeriodTrace): Promise<string | null> {
    begins += RUN_MS
    system.clock.now = new Date(begins)
    await address(true)
    let hasAddress = true
    const terms = { interval: 'day', interval_count: 4, order_expires_in: DAY_S, upcoming_notice: 0 }
    const dunning = { retry_after: [2 * DAY_S], unpaid_periods_max: 1, when_unpaid: 'cancel' }
    const { id } = await system.create({ brl_amount: reais(4), ...terms, ...dunning })
    const attempts = async () =>
      (
        await system.sql.query<Attempt>(
          `SELECT order_id AS "orderId", period_index AS period, issued_at AS "issuedAt", ends_at AS "endsAt", brl_centavos AS centavos, status
           FROM attempts WHERE subscription_id = $1 ORDER BY issued_at`,
          [id],
        )
      ).rows
    for (const [index, { action_, now, asked }] of trace.entries()) {
      if (!STEPS.has(action_.name)) continue
      system.clock.now = new Date(begins + now * DAY_S * 1_000 + index * STEP_MS)
      const { name, kind, units } = action_
      if (name === 'look' && hasAddress !== (kind === '')) {
        hasAddress = kind === ''
        await address(hasAddress)
      }
      if (name === 'hear') {
        const orderId = (await attempts())[action_.order]?.orderId ?? ''
        await until(() => system.orders.has(orderId), 'the order was not asked for')
        const event = await report(orderId, kind, reais((asked[action_.order]?.units ?? 0) - units), units)
        await until(() => isRead(event), `${kind} is not read`)
      }
      await system.idle()
      const found = name === 'look' ? periodDifferenceAt(trace, index, await outcomeOf(id, await attempts())) : null
      if (found) return found
    }
    await system.call('post', `/${id}/cancel`)
    return null
  }

  async function report(orderId: string, kind: string, missing: string, units: number): Promise<string> {
    const id = uuidv7()
    if (kind === 'paid') await system.pay(orderId, id)
    else if (kind === 'expired' || kind === 'cancelled') await system.close(orderId, kind, id)
    else if (kind === 'received') await system.receive(orderId, missing, units, id)
    else await system.answer('order.refused', orderId, kind === 'lapsed' ? 'lapsed' : 'rate_unavailable', id)
    return id
  }

  async function outcomeOf(id: string, all: readonly Attempt[]): Promise<PeriodOutcome> {
    const { status } = await system.get(id)
    const { rows } = await system.sql.query<{ type: string; order: string | null }>(
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
      await system.stop()
      await bus?.stop?.()
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
