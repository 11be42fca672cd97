import { Button, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { AttentionCard } from '../attention/attention-card'
import { Card } from '../elements/card'
import { Empty, Failure, Loading } from '../elements/states'
import { EndpointWarnings } from '../endpoints/endpoint-warnings'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { OrderBadge } from '../orders/order-badge'
import { OrderTable } from '../orders/order-table'
import { useWords } from '../texts/words'
import { FirstSteps } from './first-steps'
import { VolumeChart } from './volume-chart'
import { spanOf } from './volumes'
import './overview.css'

const SPANS = [7, 30]
const OPEN = ['pending', 'confirming', 'underpaid'] as const
const REFRESH_MS = 30_000

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
        <Allowed to="createOrder">
          <Button component={Link} href="/orders?new=1">
            {t.orders.fresh}
          </Button>
        </Allowed>
      </Heading>
      <FirstSteps />
      <EndpointWarnings />
      <AttentionCard refreshMs={REFRESH_MS} />
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
              <Allowed to="createOrder">
                <Button component={Link} href="/orders?new=1" variant="light">
                  {t.orders.fresh}
                </Button>
              </Allowed>
            </Empty>
          )}
        </Card>
      )}
    </>
  )
}

function Volume({ span }: { span: number }) {
  const { t, brl, usdcRounded } = useWords()
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const days = spanOf(new Date(), span)
  const found = useQuery({
    queryKey: ['summary', days, timezone],
    queryFn: () => api.summary({ ...days, timezone, by: 'day' }),
    refetchInterval: REFRESH_MS,
    placeholderData: previous => previous,
  })
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Loading />
  const { total } = found.data
  const figures = [
    [t.overview.gross, usdcRounded(total.gross)],
    [t.overview.fee, usdcRounded(total.platform_fee)],
    [t.overview.settled, usdcRounded(total.settled)],
    [t.overview.unsettled, usdcRounded(found.data.closing.waiting)],
    [t.overview.toReturn, usdcRounded(found.data.to_return)],
  ] as const
  return (
    <Card className="volume">
      <h2 className="hidden">{t.overview.volume}</h2>
      <div className="figures">
        <div>
          <p className="figure-label">{t.overview.paid(total.payments)}</p>
          <p className="figure">{brl(total.brl_amount)}</p>
        </div>
        {figures.map(([label, amount]) => (
          <div key={label}>
            <p className="figure-label">{label}</p>
            <p className="figure second">{amount}</p>
          </div>
        ))}
      </div>
      <VolumeChart summary={found.data} />
      <h3>{t.overview.open}</h3>
      <ul className="states">
        {OPEN.map(status => (
          <li key={status}>
            <Link href={`/orders?status=${status}`}>
              <OrderBadge status={status} /> <strong>{found.data.open[status]}</strong>
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
