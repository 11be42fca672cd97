import type { DeliveryBody, EventBody, OrderBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { transactionUrl } from '../../networks'
import { api } from '../api/api'
import { useNetworkName } from '../api/use-networks'
import { DeliveryBadge } from '../deliveries/delivery-badge'
import type { Tone } from '../elements/badge'
import { Failure } from '../elements/states'
import { Timeline, TimelineEntry } from '../elements/timeline'
import { useWords } from '../texts/words'

const PAGE = 100

interface Entry {
  at: string
  tone: Tone
  title: string
  /** Between entries of one moment and title, as two payments of the same amount. */
  hash?: string
  body?: ReactNode
}

async function eventsOf({ id }: OrderBody): Promise<{ event: EventBody; deliveries: DeliveryBody[] }[]> {
  const about = { order_id: id, limit: String(PAGE) }
  const [events, deliveries] = await Promise.all([api.events(about), api.deliveries(about)])
  return events.data.map(event => ({ event, deliveries: deliveries.data.filter(({ event_id }) => event_id === event.id) }))
}

export function OrderTimeline({ order, refetchInterval }: { order: OrderBody; refetchInterval: number }) {
  const words = useWords()
  const networkName = useNetworkName()
  const events = useQuery({
    queryKey: ['order-events', order.id, order.status],
    queryFn: () => eventsOf(order),
    refetchInterval,
    placeholderData: previous => previous,
  })
  const entries = [
    ...own(order, words, networkName),
    ...(events.data ?? []).map(({ event, deliveries }) => publishedEvent(event, deliveries, words)),
  ]
  // Newest first; of one moment, what was recorded last.
  entries.reverse().sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return (
    <>
      {events.error && <Failure error={events.error} />}
      <Timeline>
        {entries.map(({ at, tone, title, hash, body }) => (
          <TimelineEntry key={`${at} ${title} ${hash}`} tone={tone} title={title}>
            {body}
            <p className="faint">
              <time dateTime={at}>{words.exactMoment(at)}</time>
            </p>
          </TimelineEntry>
        ))}
      </Timeline>
    </>
  )
}

/** `1 USDC = R$ 5.42 (chainlink)`. */
export const quoteOf = ({ quote }: OrderBody, brl: Words['brl']): string =>
  `1 USDC = ${brl(quote.rate.replace(/0{1,4}$/, ''))} (${quote.source})`

type Words = ReturnType<typeof useWords>

/** The order's own entries: its making, its payments, its end. */
function own(order: OrderBody, { t, brl, usdc }: Words, networkName: ReturnType<typeof useNetworkName>): Entry[] {
  const { at } = t.orders
  const created = at.created(brl(order.brl_amount), usdc(order.usdc_amount))
  const entries: Entry[] = [{ at: order.created_at, tone: 'calm', title: created, body: <p>{quoteOf(order, brl)}</p> }]
  for (const payment of order.payments ?? []) {
    const { chain_id = order.payment.chain_id } = payment
    const url = transactionUrl(chain_id, payment.tx_hash)
    const hash = <span className="mono">{shortened(payment.tx_hash, 10)}</span>
    entries.push({
      // A block carries a whole second, which may begin before the order it pays.
      at: payment.block_time > order.created_at ? payment.block_time : order.created_at,
      tone: payment.status === 'confirmed' ? 'good' : payment.status === 'detected' ? 'wait' : 'bad',
      title: at.payment(usdc(payment.amount)),
      hash: payment.tx_hash,
      body: (
        <p>
          {[t.payments.statuses[payment.status], networkName(chain_id)].filter(Boolean).join(' · ')}{' '}
          {url ? (
            <a href={url} target="_blank" rel="noreferrer">
              {hash}
            </a>
          ) : (
            hash
          )}
        </p>
      ),
    })
  }
  const { accepted } = order
  if (accepted) {
    const gaveAway = /^[0.]+$/.test(accepted.given_away) ? '' : ` ${at.gaveAway(usdc(accepted.given_away))}`
    entries.push({ at: accepted.at, tone: 'good', title: at.accepted, body: <p>{`“${accepted.reason}”${gaveAway}`}</p> })
  }
  if (order.cancelled_at) entries.push({ at: order.cancelled_at, tone: 'calm', title: at.cancelled })
  if (order.status === 'expired') entries.push({ at: order.expires_at, tone: 'calm', title: at.expired })
  if (order.paid_at) entries.push({ at: order.paid_at, tone: 'good', title: t.orders.statuses.paid })
  return entries
}

function publishedEvent(event: EventBody, deliveries: DeliveryBody[], { t }: Words): Entry {
  return {
    at: event.created_at,
    tone: 'calm',
    title: t.deliveries.types[event.type],
    body: (
      <>
        <p>
          {t.orders.at.event} <code>{event.type}</code>
        </p>
        {deliveries.map(delivery => (
          <p key={delivery.id}>
            <Link href={`/deliveries/${delivery.id}`}>{t.orders.at.delivery}</Link> <DeliveryBadge delivery={delivery} />{' '}
            <span className="faint">{t.orders.at.attempts(delivery.attempts)}</span>
          </p>
        ))}
      </>
    ),
  }
}
