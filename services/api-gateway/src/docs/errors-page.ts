import { type ErrorCode, errorTable } from '@ponte/contracts'
import { cures } from './cures'
import { page } from './page'
import { escapeHtml, inlineHtml } from './page-text'

/** One anchor for each code: `type` of a problem points here. */
export function errorsPage(): string {
  const rows = (Object.keys(errorTable) as ErrorCode[]).map(code => {
    const { status, title } = errorTable[code]
    return `<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(title)}</td><td>${inlineHtml(cures[code])}</td></tr>`
  })
  return page(
    'Ponte API: errors',
    `<header><h1>Errors</h1><p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes; <code>detail</code> names what to do.</p></header>
    <table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th><th>What to do</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}
