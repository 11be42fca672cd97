import { Button, SegmentedControl } from '@mantine/core'
import type { OrderBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../api'
import { Card, Empty, Failure, Loading } from '../elements'
import { Heading, usePageTitle } from '../frame'
import { OrderBadge, OrderTable } from '../orders'
import { useWords } from '../texts'
import { VolumeChart } from './volume-chart'
import { spanStart, volumesOf } from './volumes'
import './overview.css'

const SPANS = [7, 30]
const PAGE = 100
const PAGES_MAX = 10
const REFRESH_MS = 10_000

/** The orders of a span, newest first, as many as ten pages hold. */
async function ordersSince(start: Date): Promise<{ orders: OrderBody[]; complete: boolean }> {
  const orders: OrderBody[] = []
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const list = await api.orders({ limit: String(PAGE), created_gte: start.toISOString(), starting_after: orders.at(-1)?.id })
    orders.push(...list.data)
    if (!list.has_more) return { orders, complete: true }
  }
  return { orders, complete: false }
}

export function OverviewPage() {
  const { t } = useWords()
  usePageTitle(t.overview.title)
  const [span, setSpan] = useState(7)
  const overview = useQuery({ queryKey: ['overview'], queryFn: api.overview, refetchInterval: REFRESH_MS })
  return (
    <>
      <Heading title={t.overview.title}>
        <SegmentedControl
          aria-label={t.overview.span}
          value={String(span)}
          onChange={value => setSpan(Number(value))}
          data={SPANS.map(days => ({ value: String(days), label: t.overview.days(days) }))}
        />
      </Heading>
      <Volume span={span} />
      {overview.error && <Failure error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <Loading />}
      {overview.data?.deliveries && <Deliveries {...overview.data.deliveries} />}
      {overview.data?.latest_orders && (
        <Card title={t.overview.latest}>
          {overview.data.latest_orders.length > 0 ? (
            <OrderTable orders={overview.data.latest_orders} />
          ) : (
            <Empty title={t.orders.empty} text={t.orders.emptyText}>
              <Button component={Link} href="/orders?new=1">
                {t.orders.fresh}
              </Button>
            </Empty>
          )}
        </Card>
      )}
    </>
  )
}

function Volume({ span }: { span: number }) {
  const { t, brl, usdcRounded } = useWords()
  const found = useQuery({
    queryKey: ['volume', span],
    queryFn: () => ordersSince(spanStart(new Date(), span)),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Loading />
  const volumes = volumesOf(found.data.orders, new Date(), span)
  const states = Object.entries(volumes.byStatus) as [keyof typeof volumes.byStatus, number][]
  return (
    <Card className="volume">
      <h2 className="hidden">{t.overview.volume}</h2>
      <div className="figures">
        <div>
          <p className="figure-label">{t.overview.inBrl}</p>
          <p className="figure">{brl(volumes.brl)}</p>
        </div>
        <div>
          <p className="figure-label">{t.overview.inUsdc}</p>
          <p className="figure second">{usdcRounded(volumes.usdc)}</p>
        </div>
      </div>
      <VolumeChart volumes={volumes} />
      {!found.data.complete && <p className="faint">{t.overview.partial(found.data.orders.length)}</p>}
      <h3>{t.overview.byStatus}</h3>
      <ul className="states">
        {states.map(([status, count]) => (
          <li key={status}>
            <Link href={`/orders?status=${status}`}>
              <OrderBadge status={status} /> <strong>{count}</strong>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Deliveries(of: { pending: number; retrying: number; delivered_24h: number; dead_24h: number }) {
  const { t } = useWords()
  const cells = [
    { label: t.overview.failing, count: of.retrying, alarm: 'warn' },
    { label: t.overview.dead, count: of.dead_24h, alarm: 'bad' },
    { label: t.overview.waiting, count: of.pending, alarm: '' },
    { label: t.overview.delivered, count: of.delivered_24h, alarm: '' },
  ]
  return (
    <Card title={<Link href="/deliveries">{t.overview.deliveries}</Link>}>
      <dl className="cells">
        {cells.map(({ label, count, alarm }) => (
          <div key={label} className={count > 0 ? alarm : ''}>
            <dd>{count}</dd>
            <dt>{label}</dt>
          </div>
        ))}
      </dl>
    </Card>
  )
}
