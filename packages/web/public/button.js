// Draws a payment link as a button where its script element stands: no frame, no cookie, and no request before it is used.
;(() => {
  const script = document.currentScript
  if (!script) return
  const { link = '', lang, label } = script.dataset
  const gateway = new URL(script.src)
  const urlOf = text => {
    try {
      return new URL(text, gateway)
    } catch {
      return null
    }
  }
  const url = urlOf(link)
  // Of this gateway alone: what is written into a page decides neither where its payers go nor what they run.
  if (url?.origin !== gateway.origin || !/^\/pay\/link\/[\w-]+\/?$/.test(url.pathname)) {
    console.error(`Ponte: data-link must be the URL of a payment link of ${gateway.origin}.`)
    return
  }
  const isPortuguese = /^pt\b/i.test(lang || document.documentElement.lang || navigator.language)
  const a = document.createElement('a')
  a.href = url.href
  // The payer's page is in no frame, not even where a site builder puts what its users paste.
  a.target = '_top'
  if (!label) a.lang = isPortuguese ? 'pt-BR' : 'en'
  a.textContent = label || (isPortuguese ? 'Pagar com USDC' : 'Pay with USDC')
  a.part = 'button'
  const host = document.createElement('span')
  host.className = 'ponte-button'
  const root = host.attachShadow({ mode: 'open' })
  // A strict policy allows neither style elements nor style attributes. A browser without this shows the link as it is.
  if ('adoptedStyleSheets' in root) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`
a { display: inline-block; box-sizing: border-box; min-height: 44px; padding: 12px 20px; border: 1px solid transparent; border-radius: 10px;
  background: #0e6b54; color: #fff; font: 600 16px/1.2 system-ui, sans-serif; text-align: center; text-decoration: none }
a:hover { background: #0a5844 }`)
    root.adoptedStyleSheets = [sheet]
  }
  root.append(a)
  script.after(host)
})()
