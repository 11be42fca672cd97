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
const AGAIN_MS = 3_000

/** An invoice; or another page, which a payer of an invoice never loads. */
async function page() {
  if (!second) return <CheckoutPage orderId={first} />
  const Page = (await import('./token-pages')).pageOf(first)
  return <Page token={second} />
}

/** A part of the page was lost on its way, or is of a release that is gone. No language's texts are there, and a browser may not ask for the part again. */
function beginAnew(on: HTMLElement) {
  on.textContent = 'Carregando de novo… Loading again…'
  setTimeout(() => window.location.reload(), AGAIN_MS)
}

if (root) {
  Promise.all([page(), loadTexts(language)]).then(
    ([shown]) => createRoot(root).render(<StrictMode>{shown}</StrictMode>),
    () => beginAnew(root),
  )
}
