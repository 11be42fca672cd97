import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { remember, remembered } from '../../memory'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { Card } from '../elements/card'
import { useEndpoints } from '../endpoints/use-endpoints'
import { useWords } from '../texts/words'
import './first-steps.css'

const NO_WEBHOOK = 'ponte.no-webhook'
const ONE_PAID = { status: 'paid', limit: '1' }

/** A new merchant's next tasks that the user may do; nothing once they are done. */
export function FirstSteps() {
  const { t } = useWords()
  const merchant = useQuery({ queryKey: ['merchant'], queryFn: api.merchant })
  const endpoints = useEndpoints()
  const paid = useQuery({ queryKey: ['orders', ONE_PAID], queryFn: () => api.orders(ONE_PAID) })
  const [needsWebhook, setNeedsWebhook] = useState(remembered(NO_WEBHOOK) === null)
  const may = { payout: useMay('signPayoutChange'), webhook: useMay('updateMerchant'), invoice: useMay('createOrder') }
  if (!merchant.data || !paid.data || endpoints.isLoading) return null
  const hasWebhook = endpoints.data?.some(({ url }) => url !== null) ?? false
  const steps = [
    { name: t.firstSteps.payout, isMine: may.payout, isDone: merchant.data.payout_address !== null, href: '/settings' },
    { name: t.firstSteps.webhook, isMine: may.webhook, isDone: hasWebhook || !needsWebhook, href: '/settings' },
    { name: t.firstSteps.invoice, isMine: may.invoice, isDone: paid.data.data.length > 0, href: '/orders?new=1' },
  ].filter(({ isMine }) => isMine)
  if (steps.every(({ isDone }) => isDone)) return null
  return (
    <Card title={t.firstSteps.title}>
      <ol className="first-steps">
        {steps.map(({ name, isDone, href }) => (
          <li key={name} data-done={isDone}>
            <span className="step-mark" role="img" aria-label={isDone ? t.firstSteps.done : t.firstSteps.open}>
              {isDone ? '✓' : ''}
            </span>
            {isDone ? <span>{name}</span> : <Link href={href}>{name}</Link>}
          </li>
        ))}
      </ol>
      {may.webhook && !hasWebhook && needsWebhook && (
        <div className="buttons">
          <Button
            variant="default"
            onClick={() => {
              remember(NO_WEBHOOK, 'true')
              setNeedsWebhook(false)
            }}
          >
            {t.firstSteps.noWebhook}
          </Button>
        </div>
      )}
    </Card>
  )
}
