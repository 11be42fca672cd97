import { page } from './page'
import { escapeHtml, textOf } from './page-text'

/** All between one anchor of a page and the next. */
interface Part {
  href: string
  page: string
  title: string
  text: string
}

const FOUND_MAX = 30
const WORDS_MAX = 10
const EXCERPT = 180

const partsOf = ([path, html]: readonly [path: string, html: string]): Part[] => {
  const name = textOf(/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? '')
  const places = [...html.matchAll(/<(?:h2|article|tr) id="([^"]+)">/g)]
  return places.map((place, n) => {
    const part = html.slice(place.index, places[n + 1]?.index)
    const title = textOf(/<(h2|h3|code)\b[^>]*>(.*?)<\/\1>/s.exec(part)?.[2] ?? '')
    return { href: `${path}#${place[1]}`, page: name, title, text: textOf(part) }
  })
}

/** Finds the parts of these pages that have all words of a query: those first that have them in their title. */
export function searchOf(pages: readonly (readonly [path: string, html: string])[]) {
  const parts = pages
    .flatMap(partsOf)
    .map(part => ({ ...part, low: `${part.page} ${part.text}`.toLowerCase(), high: part.title.toLowerCase() }))
  return (query: string): Part[] => {
    const words = wordsOf(query)
    if (words.length === 0) return []
    const inTitle = ({ high }: { high: string }) => words.filter(word => high.includes(word)).length
    return parts
      .filter(({ low }) => words.every(word => low.includes(word)))
      .toSorted((one, other) => inTitle(other) - inTitle(one))
      .slice(0, FOUND_MAX)
  }
}

const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX)

export function searchPage(query: string, found: readonly Part[]): string {
  const items = found.map(
    part =>
      `<li><a href="${part.href}">${escapeHtml(part.title)}</a> <small>${escapeHtml(part.page)}</small><p>${escapeHtml(excerptOf(part, query))}</p></li>`,
  )
  const none = `<p>Nothing has all of these words. Try fewer, or the name of a path, a field or an <a href="/docs/errors">error</a>.</p>`
  const result = items.length > 0 ? `<ol class="found">${items.join('')}</ol>` : none
  return page('Search', `<header><h1>Search</h1></header>${query.trim() === '' ? '<p>Type what you look for above.</p>' : result}`, query)
}

function excerptOf({ title, text }: Part, query: string): string {
  const rest = text.startsWith(title) ? text.slice(title.length).trim() : text
  const first = rest.toLowerCase().indexOf(wordsOf(query)[0] ?? '')
  const from = first > EXCERPT / 2 ? rest.indexOf(' ', first - EXCERPT / 2) + 1 : 0
  const excerpt = rest.slice(from, from + EXCERPT)
  return `${from > 0 ? '… ' : ''}${excerpt}${from + EXCERPT < rest.length ? ' …' : ''}`
}
