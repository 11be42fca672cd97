import '@fontsource-variable/figtree/wght.css'
import '../tokens.css'
import './page.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startLanguage } from '../language'
import { startTheme } from '../theme'
import { CheckoutPage } from './checkout-page'
import { loadTexts } from './texts/words'

startTheme()
const language = startLanguage()
const [, , first = '', second] = window.location.pathname.split('/').map(decodeURIComponent)
const root = document.getElementById('root')

/** An invoice; or a subscription or a refund, whose pages a payer of an invoice never loads. */
async function page() {
  if (!second) return <CheckoutPage orderId={first} />
  if (first === 'refund') {
    const { RefundPage } = await import('./refund/refund-page')
    return <RefundPage token={second} />
  }
  const { SubscriptionPage } = await import('./subscription/subscription-page')
  return <SubscriptionPage token={second} />
}

if (root) {
  Promise.all([page(), loadTexts(language)]).then(([shown]) => createRoot(root).render(<StrictMode>{shown}</StrictMode>))
}
