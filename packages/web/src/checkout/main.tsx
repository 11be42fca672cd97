import '@fontsource-variable/figtree/wght.css'
import '../tokens.css'
import './page.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startLanguage } from '../language'
import { startTheme } from '../theme'
import { CheckoutPage } from './checkout-page'
import { loadTexts } from './texts'

startTheme()
const language = startLanguage()
const [, , orderId = ''] = window.location.pathname.split('/')
const root = document.getElementById('root')
if (root) {
  loadTexts(language).then(() =>
    createRoot(root).render(
      <StrictMode>
        <CheckoutPage orderId={decodeURIComponent(orderId)} />
      </StrictMode>,
    ),
  )
}
