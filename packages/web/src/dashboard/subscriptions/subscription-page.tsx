import { Button } from '@mantine/core'
import type { SubscriptionBody, SubscriptionChargeBody } from '@ponte/contracts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { Card, Columns } from '../elements/card'
import { LinkLine } from '../elements/copy'
import { Facts, idFact } from '../elements/facts'
import { Failure } from '../elements/states'
import { Timeline, TimelineEntry } from '../elements/timeline'
import { Confirmed } from '../forms/confirmed'
import { Back, Heading } from '../frame/heading'
import { NotYet } from '../frame/missing'
import { usePageTitle } from '../frame/page-title'
import { CustomerCard } from '../invoicing/customer-card'
import { useWords } from '../texts/words'
import { SubscriptionActions } from './change-subscription'
import { type NextStep, nextSteps } from './next-step'
import { comingDates } from './period-dates'
import { SubscriptionBadge } from './subscription-badge'
import { useRhythm } from './subscriptions-page'
import './calendar.css'

const REFRESH_MS = 5_000
const PERIODS_SHOWN = 6

export function SubscriptionPage({ id }: { id: string }) {
  const { t, brl } = useWords()
  const rhythm = useRhythm()
  const found = useQuery({ queryKey: ['subscription', id], queryFn: () => api.subscription(id), refetchInterval: REFRESH_MS })
  const subscription = found.data
  usePageTitle(subscription?.external_ref ?? t.subscriptions.title)
  const back = <Back to="/subscriptions" title={t.subscriptions.title} />
  if (!subscription) return <NotYet of={found} back={back} missing={t.missing.subscription} />
  const isLive = subscription.status === 'active' || subscription.status === 'past_due'
  return (
    <>
      {back}
      <Heading title={subscription.external_ref ?? subscription.description ?? shortened(subscription.id, 13)}>
        {isLive && (
          <Allowed to="cancelSubscription">
            <Confirmed
              action={t.subscriptions.cancelOne}
              question={t.subscriptions.cancelSure}
              work={() => api.cancelSubscription(id)}
              onDone={() => void found.refetch()}
            />
          </Allowed>
        )}
        {isLive && (
          <Allowed to="chargeSubscription">
            <ChargeButton id={id} onDone={() => void found.refetch()} />
          </Allowed>
        )}
      </Heading>
      <Card className="sums">
        <div>
          <p className="badges">
            <span className="figure">{brl(subscription.brl_amount)}</span>
            <SubscriptionBadge status={subscription.status} />
          </p>
          <p className="faint">{[rhythm(subscription), subscription.description].filter(Boolean).join(' · ')}</p>
        </div>
        {subscription.payer_url && (
          <LinkLine url={subscription.payer_url} label={t.subscriptions.payerLink} action={t.subscriptions.openPayer} />
        )}
      </Card>
      <Columns>
        <Card title={t.subscriptions.charges}>
          <Charges subscription={subscription} onAccepted={() => void found.refetch()} />
        </Card>
        <div>
          <Card title={t.subscriptions.calendar}>
            <Calendar subscription={subscription} />
            <Details subscription={subscription} />
            {isLive && (
              <Allowed to="updateSubscription">
                <SubscriptionActions subscription={subscription} onDone={() => void found.refetch()} />
              </Allowed>
            )}
          </Card>
          <CustomerCard
            customer={subscription.customer}
            by="updateSubscription"
            hint={t.invoicing.ofSubscription}
            save={customer => api.updateSubscription(id, { customer })}
            onDone={() => void found.refetch()}
          />
        </div>
      </Columns>
    </>
  )
}

function ChargeButton({ id, onDone }: { id: string; onDone(): void }) {
  const { t } = useWords()
  const [key, setKey] = useState(() => crypto.randomUUID())
  const charge = useMutation({
    mutationFn: () => api.charge(id, key),
    onSettled: () => {
      setKey(crypto.randomUUID())
      onDone()
    },
  })
  return (
    <>
      <Button loading={charge.isPending} onClick={() => charge.mutate()}>
        {t.subscriptions.charge}
      </Button>
      {charge.error && <Failure error={charge.error} />}
      <span role="status">
        {charge.data && (
          <Link href={`/orders/${'order_id' in charge.data ? charge.data.order_id : charge.data.id}`} className="done">
            {t.subscriptions.charged}
          </Link>
        )}
      </span>
    </>
  )
}

function Charges({ subscription, onAccepted }: { subscription: SubscriptionBody; onAccepted(): void }) {
  const { t, brl, moment } = useWords()
  const charges = subscription.charges ?? []
  if (charges.length === 0) return <p className="faint">{t.subscriptions.noCharges}</p>
  const tones = { open: 'wait', paid: 'good', skipped: 'warn' } as const
  return (
    <Timeline>
      {charges.map(charge => (
        <TimelineEntry
          key={charge.period_index}
          tone={tones[charge.status]}
          title={
            <>
              {t.subscriptions.period(charge.period_index)}: {brl(charge.brl_amount)}{' '}
              <Badge tone={tones[charge.status]}>{t.subscriptions.chargeStatuses[charge.status]}</Badge>
            </>
          }
        >
          {charge.orders.map(order => (
            <p key={order.id}>
              <Link href={`/orders/${order.id}`}>{shortened(order.id, 13)}</Link> <span className="faint">{moment(order.issued_at)}</span>
            </p>
          ))}
          <Received id={subscription.id} charge={charge} onAccepted={onAccepted} />
        </TimelineEntry>
      ))}
    </Timeline>
  )
}

/** Money that came too late or in part: it counts when the merchant wants it to. */
function Received({ id, charge, onAccepted }: { id: string; charge: SubscriptionChargeBody; onAccepted(): void }) {
  const { t, brl } = useWords()
  const { period_index, status, received_brl_amount: received = '0.00' } = charge
  if (status === 'paid' || received === '0.00') return null
  return (
    <>
      <p>{t.subscriptions.received(brl(received))}</p>
      <Allowed to="acceptCharge">
        <Confirmed
          action={t.subscriptions.accept}
          question={t.subscriptions.acceptSure(brl(received))}
          work={() => api.acceptCharge(id, period_index)}
          onDone={onAccepted}
        />
      </Allowed>
    </>
  )
}

function Calendar({ subscription }: { subscription: SubscriptionBody }) {
  const { t, locale } = useWords()
  const { interval, next_charge_at, start_at, timezone, max_periods, charges_done } = subscription
  if (interval === null || next_charge_at === null)
    return <p className="faint">{interval === null ? t.subscriptions.noCalendar : t.none}</p>
  const periods = Math.min(PERIODS_SHOWN, max_periods === null ? PERIODS_SHOWN : Math.max(1, max_periods - charges_done))
  const count = subscription.interval_count ?? 1
  const dates = comingDates({ startAt: start_at, timezone, interval, count, nextAt: next_charge_at, periods })
  const part = (date: Date, options: Intl.DateTimeFormatOptions) => date.toLocaleDateString(locale, { timeZone: 'UTC', ...options })
  return (
    <ol className="calendar">
      {dates.map(date => (
        <li key={date.getTime()}>
          <span className="calendar-month">{part(date, { month: 'short' })}</span>
          <span className="calendar-day">{part(date, { day: 'numeric' })}</span>
          <span className="faint">{part(date, { weekday: 'short' })}</span>
        </li>
      ))}
    </ol>
  )
}

function Details({ subscription }: { subscription: SubscriptionBody }) {
  const { t, moment, exactMoment } = useWords()
  const { timezone } = subscription
  const texts = t.subscriptions.nextSteps
  const sentence = (step: NextStep): string => {
    if ('at' in step) return texts[step.kind](moment(step.at, timezone))
    return 'periods' in step ? texts[step.kind](step.periods) : texts[step.kind]
  }
  const steps = nextSteps(subscription)
  return (
    <Facts
      rows={[
        [t.subscriptions.comesNext, steps.length === 0 ? t.none : steps.map(step => <p key={step.kind}>{sentence(step)}</p>)],
        [t.subscriptions.timezone, timezone],
        [t.subscriptions.done, t.subscriptions.doneOf(subscription.charges_done, subscription.max_periods)],
        [t.created, exactMoment(subscription.created_at)],
        idFact(subscription.id),
      ]}
    />
  )
}
