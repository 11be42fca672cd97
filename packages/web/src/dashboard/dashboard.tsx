import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Route, Router, Switch } from 'wouter'
import { RequestFailed } from '../problem'
import { Onboarding, SignIn } from './account'
import { api, chooseMerchant, chosenMerchant, forgetMerchant, refresh, useSession } from './api'
import { AttentionPage } from './attention'
import { DeliveriesPage, DeliveryPage } from './deliveries'
import { DevelopersPage } from './developers'
import { Failure, Loading } from './elements'
import { EndpointsPage } from './endpoints'
import { Frame, Missing } from './frame'
import { OrderPage, OrdersPage } from './orders'
import { OverviewPage } from './overview'
import { KeyContext, SettingsPage } from './settings'
import { SubscriptionPage, SubscriptionsPage } from './subscriptions'
import { invitationIn, JoinPage, TeamPage } from './team'
import { useWords } from './texts'

export function Dashboard() {
  const session = useSession()
  const queries = useQueryClient()
  const [key, setKey] = useState<string | null>(null)
  useEffect(() => {
    if (session !== 'out') return
    // What one merchant saw is not the next one's.
    queries.clear()
    setKey(null)
  }, [session, queries])
  if (session === 'unknown') return <Restoring />
  return <KeyContext value={{ key, setKey }}>{session === 'in' ? <Home /> : <SignIn />}</KeyContext>
}

/** Between opening the page and knowing whether a user is logged in. */
function Restoring() {
  const asked = useQuery({ queryKey: ['session'], queryFn: () => refresh().then(() => null) })
  return <main className="door">{asked.error ? <Failure error={asked.error} onRetry={() => void asked.refetch()} /> : <Loading />}</main>
}

function Home() {
  const { t } = useWords()
  const [keyShown, setKeyShown] = useState(true)
  const [invitation, setInvitation] = useState(() => invitationIn(window.location))
  const merchant = useQuery({ queryKey: ['merchant'], queryFn: api.merchant })
  const isOut = merchant.error instanceof RequestFailed && merchant.error.code === 'forbidden' && chosenMerchant() !== null
  const { refetch } = merchant
  useEffect(() => {
    if (!isOut) return
    // Removed from the store that was chosen here.
    forgetMerchant()
    void refetch()
  }, [isOut, refetch])
  if (invitation !== null) {
    const joined = (merchantId: string) => {
      chooseMerchant(merchantId)
      window.history.replaceState(null, '', '/dashboard')
      setInvitation(null)
      void merchant.refetch()
    }
    return <JoinPage token={invitation} onJoined={joined} />
  }
  const isNew = merchant.error instanceof RequestFailed && merchant.error.code === 'not_found'
  if (isNew || !keyShown) return <Onboarding onCreated={() => setKeyShown(false)} onDone={() => setKeyShown(true)} />
  return (
    <Router base="/dashboard">
      <Frame merchantId={merchant.data?.id} name={merchant.data?.display_name}>
        {merchant.data ? (
          <Switch>
            <Route path="/" component={OverviewPage} />
            <Route path="/orders" component={OrdersPage} />
            <Route path="/orders/:id">{({ id }) => <OrderPage id={id} />}</Route>
            <Route path="/attention" component={AttentionPage} />
            <Route path="/subscriptions" component={SubscriptionsPage} />
            <Route path="/subscriptions/:id">{({ id }) => <SubscriptionPage id={id} />}</Route>
            <Route path="/deliveries" component={DeliveriesPage} />
            <Route path="/deliveries/endpoints" component={EndpointsPage} />
            <Route path="/deliveries/:id">{({ id }) => <DeliveryPage id={id} />}</Route>
            <Route path="/developers" component={DevelopersPage} />
            <Route path="/team" component={TeamPage} />
            <Route path="/settings">
              <SettingsPage merchant={merchant.data} />
            </Route>
            <Route>
              <Missing title={t.missing.page} />
            </Route>
          </Switch>
        ) : merchant.error ? (
          <Failure error={merchant.error} onRetry={() => void merchant.refetch()} />
        ) : (
          <Loading />
        )}
      </Frame>
    </Router>
  )
}
