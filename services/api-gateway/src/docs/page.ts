import { mark } from './docs-style'
import { escapeHtml } from './page-text'

/** The pages for people: plain HTML without a request to anyone else, and whole without a script. */

const PAGES = [
  ['/docs/quickstart', 'Quickstart'],
  ['/docs/webhooks', 'Webhooks'],
  ['/docs/testing', 'Testing'],
  ['/docs/payments', 'Payments'],
  ['/docs/exceptions', 'Exceptions'],
  ['/docs/refunds', 'Refunds'],
  ['/docs/production', 'Production'],
  ['/docs', 'API'],
  ['/docs/sdk', 'SDK'],
  ['/docs/errors', 'Errors'],
  ['/docs/changes', 'Changes'],
].map(([path, title]) => `<a href="${path}">${title}</a>`)

const searchForm = (query: string) =>
  `<form role="search" action="/docs/search"><input type="search" name="q" value="${escapeHtml(query)}" maxlength="100" placeholder="Search" aria-label="Search the documentation"></form>`

/** A page of the documentation; `query` is what was searched for. */
export const page = (title: string, body: string, query = ''): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="icon" type="image/svg+xml" href="/docs/mark.svg"><link rel="stylesheet" href="/docs/style.css"><script type="module" src="/docs/copy.js"></script></head><body><main><nav class="pages" aria-label="Documentation"><a class="brand" href="/">${mark}Ponte</a>${searchForm(query)}<div>${PAGES.join('')}</div></nav>${body}</main></body></html>
`
