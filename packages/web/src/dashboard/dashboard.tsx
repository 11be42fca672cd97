import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Route, Router, Switch } from 'wouter'
import { remember, remembered } from '../memory'
import { RequestFailed } from '../problem'
import { INVITATION, LinkPage } from './account/link-page'
import { Onboarding } from './account/onboarding'
import { OwnLoginPage } from './account/own-login-page'
import { type Mode, SignIn } from './account/sign-in'
import { api } from './api/api'
import { chooseMerchant, chosenMerchant, forgetMerchant, keepToMerchant } from './api/chosen-merchant'
import { mailedLinkIn } from './api/mailed-link'
import { refresh, useSession } from './api/session'
import { AttentionPage } from './attention/attention-page'
import { DeliveriesPage } from './deliveries/deliveries-page'
import { DeliveryPage } from './deliveries/delivery-page'
import { DevelopersPage } from './developers/developers-page'
import { Failure, Loading } from './elements/states'
import { EndpointsPage } from './endpoints/endpoints-page'
import { Frame } from './frame/frame'
import { Missing } from './frame/missing'
import { LinksPage } from './links/links-page'
import { PrintPage } from './links/print-page'
import { MonthPage } from './month/month-page'
import { OrderPage } from './orders/order-page'
import { OrdersPage } from './orders/orders-page'
import { OverviewPage } from './overview/overview-page'
import { KeyContext } from './settings/known-key'
import { SettingsPage } from './settings/settings-page'
import { SubscriptionPage } from './subscriptions/subscription-page'
import { SubscriptionsPage } from './subscriptions/subscriptions-page'
import { invitationIn, JoinPage } from './team/join-page'
import { TeamPage } from './team/team-page'
import { WaitingChanges } from './team/waiting-changes'
import { useWords } from './texts/words'

export function Dashboard() {
  const session = useSession()
  const queries = useQueryClient()
  const [key, setKey] = useState<string | null>(null)
  const [link, setLink] = useState(() => mailedLinkIn(window.location.hash))
  const [start, setStart] = useState<Mode>('in')
  // Read when the page opens, because a login in one tab reloads the others, and the first of them forgets it.
  const [kept, setKept] = useState(() => remembered(INVITATION))
  useEffect(() => {
    // The proof in the URL stays out of the history.
    if (link) window.history.replaceState(null, '', '/dashboard')
  }, [link])
  useEffect(() => {
    if (session !== 'out') return
    // What one merchant saw is not the next one's.
    queries.clear()
    setKey(null)
  }, [session, queries])
  if (link) {
    const another = () => {
      setStart('forgotten')
      setLink(null)
    }
    return <LinkPage link={link} onDone={() => setLink(null)} onAnother={another} />
  }
  if (session === 'unknown') return <Restoring />
  const invitation = invitationIn(window.location)
  const content = session === 'in' ? <Home kept={kept} onOffered={() => setKept(null)} /> : <SignIn start={start} invitation={invitation} />
  return <KeyContext value={{ key, setKey }}>{content}</KeyContext>
}

/** Between opening the page and knowing whether a user is logged in. */
function Restoring() {
  const asked = useQuery({ queryKey: ['session'], queryFn: () => refresh().then(() => null) })
  return <main className="door">{asked.error ? <Failure error={asked.error} onRetry={() => void asked.refetch()} /> : <Loading />}</main>
}

async function shownMerchant() {
  const merchant = await api.merchant()
  keepToMerchant(merchant.id)
  return merchant
}

function Home({ kept, onOffered }: { kept: string | null; onOffered(): void }) {
  const { t } = useWords()
  const [keyShown, setKeyShown] = useState(true)
  const [invitation, setInvitation] = useState(() => invitationIn(window.location) ?? kept)
  const merchant = useQuery({ queryKey: ['merchant'], queryFn: shownMerchant })
  const isOut = merchant.error instanceof RequestFailed && merchant.error.code === 'forbidden' && chosenMerchant() !== null
  useEffect(() => {
    // Offered once.
    remember(INVITATION, null)
    onOffered()
  }, [onOffered])
  useEffect(() => {
    if (!isOut) return
    // Removed from the store that was shown: another one is another visit, since what was typed for this one must not reach it.
    forgetMerchant()
    window.location.assign('/dashboard')
  }, [isOut])
  if (invitation !== null) {
    const joined = (merchantId: string) => {
      chooseMerchant(merchantId)
      window.history.replaceState(null, '', '/dashboard')
      setInvitation(null)
      void merchant.refetch()
    }
    return <JoinPage token={invitation} onJoined={joined} />
  }
  if (isOut) return <Loading />
  const isNew = merchant.error instanceof RequestFailed && merchant.error.code === 'not_found'
  if (isNew || !keyShown)
    return (
      <Onboarding onCreated={() => setKeyShown(false)} onDone={() => setKeyShown(true)}>
        <WaitingChanges />
      </Onboarding>
    )
  return (
    <Router base="/dashboard">
      <Frame merchantId={merchant.data?.id} name={merchant.data?.display_name}>
        <WaitingChanges />
        {merchant.data ? (
          <Switch>
            <Route path="/" component={OverviewPage} />
            <Route path="/orders" component={OrdersPage} />
            <Route path="/orders/:id">{({ id }) => <OrderPage id={id} />}</Route>
            <Route path="/links" component={LinksPage} />
            <Route path="/links/:id/print">{({ id }) => <PrintPage id={id} shop={merchant.data.display_name} />}</Route>
            <Route path="/month" component={MonthPage} />
            <Route path="/attention" component={AttentionPage} />
            <Route path="/subscriptions" component={SubscriptionsPage} />
            <Route path="/subscriptions/:id">{({ id }) => <SubscriptionPage id={id} />}</Route>
            <Route path="/deliveries" component={DeliveriesPage} />
            <Route path="/deliveries/endpoints" component={EndpointsPage} />
            <Route path="/deliveries/:id">{({ id }) => <DeliveryPage id={id} />}</Route>
            <Route path="/developers" component={DevelopersPage} />
            <Route path="/team" component={TeamPage} />
            <Route path="/login" component={OwnLoginPage} />
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
