import { useEffect } from 'react'
import { MerchantLinks } from './branding/merchant-links'
import { useBranding } from './branding/use-branding'
import { Fold } from './elements/fold'
import { Aside, Notice } from './elements/notice'
import { PageFrame } from './elements/page-frame'
import { type LiveCheckout, useLiveCheckout } from './live/live-checkout'
import { Situation } from './states/situation'
import { Summary } from './summary'
import { useWords } from './texts/words'

export function CheckoutPage({ orderId }: { orderId: string }) {
  const { t } = useWords()
  const live = useLiveCheckout(orderId)
  const { checkout, clockOffsetMs } = live
  const merchant = checkout?.merchant_name
  const branding = useBranding(orderId, checkout !== null)
  const paid = checkout?.status === 'paid'
  useEffect(() => {
    if (merchant) document.title = paid ? `✓ ${t.states.paid.title} · ${merchant}` : t.pageTitle(merchant)
  }, [merchant, paid, t])
  return (
    <PageFrame>
      {checkout ? (
        <main className="sheet" data-status={checkout.status}>
          <Summary checkout={checkout} clockOffsetMs={clockOffsetMs} branding={branding} />
          <div className="side">
            {!live.live && (
              <div role="status">
                <Aside state="reconnecting" />
              </div>
            )}
            <div aria-live="polite">
              <Situation checkout={checkout} clockOffsetMs={clockOffsetMs} />
            </div>
            {checkout.status !== 'paid' && checkout.status !== 'confirming' && (
              <Fold summary={t.quoted} part="QuotedForm" checkout={checkout} />
            )}
          </div>
        </main>
      ) : (
        <main className="sheet alone">
          <Absent {...live} />
        </main>
      )}
      {checkout && <Safety />}
      {checkout && <MerchantLinks branding={branding} merchant={checkout.merchant_name} />}
    </PageFrame>
  )
}

function Absent({ failure }: LiveCheckout) {
  const { t } = useWords()
  if (!failure) {
    return (
      <p className="loading" role="status">
        <span className="spinner" aria-hidden="true" /> {t.loading}
      </p>
    )
  }
  const isMissing = failure.status === 404 || failure.status === 400
  return (
    <div role="alert">
      <Notice tone={isMissing ? 'bad' : 'warn'} state={isMissing ? 'notFound' : 'unreachable'}>
        {failure.requestId && <p className="faint mono">{t.requestId(failure.requestId)}</p>}
      </Notice>
    </div>
  )
}

function Safety() {
  const { t } = useWords()
  return (
    <details className="safety no-print">
      <summary>{t.safeTitle}</summary>
      <p>{t.safeReload}</p>
      <p>{t.safeTwice}</p>
    </details>
  )
}
