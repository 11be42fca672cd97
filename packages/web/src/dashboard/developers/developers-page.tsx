import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { Link } from 'wouter'
import { api } from '../api/api'
import { authUrl, clientKey } from '../api/session'
import { Allowed } from '../api/use-memberships'
import { Card } from '../elements/card'
import { CodeBlock } from '../elements/copy'
import { Failure } from '../elements/states'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { KeyContext } from '../settings/known-key'
import { useWords } from '../texts/words'
import { curlLines } from './curl-lines'
import { TestBench } from './test-bench'
import './developers-page.css'

const TEST_REFERENCE = 'ponte-test'
const LINES = ['createOrder', 'listOrders', 'createSubscription', 'events', 'login', 'verify'] as const

export function DevelopersPage() {
  const { t } = useWords()
  usePageTitle(t.developers.title)
  const { key } = useContext(KeyContext)
  const login = useQuery({ queryKey: ['login'], queryFn: async () => ({ url: await authUrl(), key: await clientKey() }) })
  const lines = curlLines({
    base: window.location.origin,
    key: key ?? '$PONTE_API_KEY',
    authUrl: login.data?.url ?? null,
    clientKey: login.data?.key ?? null,
    words: t.developers,
  })
  return (
    <>
      <Heading title={t.developers.title}>
        <a href="/docs" className="action">
          {t.developers.reference}
        </a>
      </Heading>
      <Allowed to="createOrder">
        <TestEvent />
        <TestBench />
      </Allowed>
      <Card title={t.developers.lines} className="lines">
        <p className="faint">{key ? t.developers.keyPresent : t.developers.keyMissing}</p>
        {LINES.map(name => (
          <div key={name}>
            <h3>{t.developers[name]}</h3>
            <CodeBlock text={lines[name]} label={t.developers[name]} />
          </div>
        ))}
      </Card>
    </>
  )
}

/** A true event by the true way: an order that is made and cancelled at once. */
function TestEvent() {
  const { t } = useWords()
  const merchant = useQuery({ queryKey: ['merchant'], queryFn: api.merchant })
  const send = useMutation({
    mutationFn: async () => {
      const order = await api.createOrder({ brl_amount: '1.00', external_ref: TEST_REFERENCE, expires_in: 600 }, crypto.randomUUID())
      return api.cancelOrder(order.id)
    },
  })
  const isReady = Boolean(merchant.data?.webhook_url && merchant.data.payout_address)
  return (
    <Card title={t.developers.test}>
      <p>{t.developers.testText}</p>
      {send.error && <Failure error={send.error} />}
      <div className="buttons">
        <Button disabled={!isReady} loading={send.isPending} onClick={() => send.mutate()}>
          {t.developers.send}
        </Button>
        <span role="status">
          {send.isSuccess && (
            <Link href="/deliveries" className="done">
              {t.developers.sent}
            </Link>
          )}
        </span>
        {merchant.data && !isReady && <span className="faint">{t.developers.needsUrl}</span>}
      </div>
    </Card>
  )
}
