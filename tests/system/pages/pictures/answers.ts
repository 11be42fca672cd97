import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { until } from '@ponte/service-kit'
import type { BrowserContext, Page, Request, Route } from 'playwright-core'
import type { Shown, Stop } from '../every-page'

/** Where the recorded pages are; no server is asked for it. */
export const ORIGIN = 'https://pay.ponte.example'

const FILE = join(__dirname, 'artifacts/answers.json')
const PAGES = join(__dirname, '../../../../packages/web/dist')
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 56 56"><circle cx="28" cy="28" r="28" fill="#f3d9a4"/><path d="M14 34q14-26 28 0z" fill="#8a4b14"/></svg>`
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' }

interface Answer {
  /** Requests that change something, asked by the page until then: what a GET answers depends on them. */
  after: number
  key: string
  status: number
  /** Its place in `bodies`. */
  body: number
}

/** The service's answers to each page at one time, so that the pages look the same whenever they are looked at. */
export interface Answers {
  shown: Shown
  pages: Record<string, { at: string; answers: Answer[] }>
  bodies: string[]
}

export const readAnswers = (): Answers => {
  if (!existsSync(FILE)) throw new Error('Nothing is recorded yet: PONTE_PICTURES=record npm run pictures')
  return JSON.parse(readFileSync(FILE, 'utf8')) as Answers
}

/** One answer a line. */
export const answersText = ({ shown, pages, bodies }: Answers): string => {
  const lines = (values: readonly string[]) => values.join(',\n')
  const named = Object.entries(pages).map(([name, page]) => `${JSON.stringify(name)}:${JSON.stringify(page)}`)
  return `{"shown":${JSON.stringify(shown)},\n"pages":{${lines(named)}},\n"bodies":[${lines(bodies.map(body => JSON.stringify(body)))}]}\n`
}
export const answersFile = FILE

const isCall = (request: Request) => ['fetch', 'xhr'].includes(request.resourceType()) && request.method() !== 'OPTIONS'
const changes = (request: Request) => isCall(request) && request.method() !== 'GET'
const keyOf = (request: Request) => {
  const { pathname, search } = new URL(request.url())
  return `${request.method()} ${pathname}${search}`
}

/** Waits until a page has been answered all that it asked, also what it asks once it is drawn. */
export function quietness(page: Page) {
  const open = new Set<Request>()
  page.on('request', request => void (isCall(request) && open.add(request)))
  page.on('requestfinished', request => void open.delete(request))
  page.on('requestfailed', request => void open.delete(request))
  return async () => {
    do {
      await until(() => open.size === 0, 'a page is not answered')
      await page.evaluate('new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))')
    } while (open.size > 0)
  }
}

/** Keeps what the pages are answered. Keys, secrets and signatures of tokens are replaced: no scanner shall take them for real ones. */
export function recorder(page: Page, shown: Shown, gatewayUrl: string) {
  const answers: Answers = { shown, pages: {}, bodies: [] }
  const places = new Map<string, number>()
  const asked = new Map<Request, number>()
  let origins = [gatewayUrl]
  let changed = 0
  let kept: Promise<Answer | null>[] = []
  const neutral = (text: string) =>
    origins
      .flatMap(origin => [[origin, ORIGIN] as const, [encodeURIComponent(origin), encodeURIComponent(ORIGIN)] as const])
      .reduce((changedText, [origin, instead]) => changedText.replaceAll(origin, instead), text)
      .replace(/(sk_live_|whsec_)[0-9A-Za-z+/=_-]{16,}/g, (_, prefix: string) => `${prefix}${'0'.repeat(64)}`)
      .replace(/eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g, 'e30.$1.e30')
  const placeOf = (body: string) => {
    const place = places.get(body) ?? answers.bodies.push(body) - 1
    places.set(body, place)
    return place
  }
  page.on('request', request => {
    if (changes(request)) changed += 1
    asked.set(request, changed)
  })
  page.on('response', response => {
    const request = response.request()
    if (!isCall(request)) return
    const after = asked.get(request) ?? 0
    const keep = async (): Promise<Answer> => {
      const text = response.status() === 204 ? '' : await response.text()
      const auth = /"auth_url":"([^"]+)"/.exec(text)?.[1]
      if (auth) origins = [gatewayUrl, auth]
      return { after, key: neutral(keyOf(request)), status: response.status(), body: placeOf(neutral(text)) }
    }
    // An answer that its page did not wait for cannot be read.
    kept.push(keep().catch(() => null))
  })
  return {
    answers,
    begin() {
      changed = 0
      kept = []
    },
    async end(name: string) {
      const found = (await Promise.all(kept)).filter(answer => answer !== null)
      const unique = new Map(found.map(answer => [`${answer.after} ${answer.key}`, answer]))
      const inOrder = [...unique.values()].sort((a, b) => a.after - b.after)
      answers.pages[name] = { at: new Date().toISOString(), answers: inOrder }
    },
  }
}

/** Answers every request of the context as one page was answered, from the built pages and the recorded answers. */
export async function replay(context: BrowserContext, { pages, bodies }: Answers, { answersOf, name, instead = {}, refused = {} }: Stop) {
  const recorded = answersOf ?? name
  const page = pages[recorded]
  if (!page) throw new Error(`${recorded} was never recorded: PONTE_PICTURES=record npm run pictures`)
  const at = new Date(page.at)
  const headers = { date: at.toUTCString(), 'content-type': 'application/json' }
  let changed = 0
  const missing: string[] = []
  const answer = async (route: Route) => {
    const request = route.request()
    const { pathname } = new URL(request.url())
    if (changes(request)) changed += 1
    const file = fileOf(request)
    if (file) return route.fulfill(file)
    // A stream that stays silent.
    if (request.resourceType() === 'eventsource') return
    const refusal = endOf(refused, pathname)
    if (refusal) return route.fulfill({ status: refusal.status, headers, body: JSON.stringify(refusal) })
    const known = page.answers.filter(({ key }) => key === keyOf(request))
    const found = known.findLast(({ after }) => after <= changed) ?? known[0]
    if (!found) {
      missing.push(`${name}: ${keyOf(request)}`)
      return route.abort()
    }
    const body = bodies[found.body] ?? ''
    const fields = endOf(instead, pathname)
    return route.fulfill({ status: found.status, headers, body: fields ? JSON.stringify({ ...JSON.parse(body), ...fields }) : body })
  }
  await context.route('**/*', answer)
  return {
    missing,
    /** The moment at which the page was recorded. */
    at,
  }
}

const endOf = <T>(by: Record<string, T>, pathname: string): T | undefined => Object.entries(by).find(([end]) => pathname.endsWith(end))?.[1]

/** A built file: a document, a script, a style; or a picture of a merchant. */
function fileOf(request: Request) {
  const { pathname } = new URL(request.url())
  if (pathname.startsWith('/assets/')) {
    return { path: join(PAGES, pathname), contentType: TYPES[extname(pathname)] ?? 'application/octet-stream' }
  }
  if (pathname.startsWith('/logos/')) return { body: LOGO, contentType: 'image/svg+xml' }
  if (request.resourceType() !== 'document') return null
  return { path: join(PAGES, pathname.startsWith('/pay/') ? 'pay.html' : 'dashboard.html'), contentType: 'text/html' }
}
