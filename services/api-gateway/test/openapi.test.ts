import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  answers,
  type ErrorCode,
  errorTable,
  OPT_IN_EVENTS,
  operationList,
  parseUsdc,
  SPECIFIED_EVENTS,
  splitFee,
  TEST_EVENT,
} from '@ponte/contracts'
import { Router } from 'express'
import request from 'supertest'
import { openApiDocument } from '../src/openapi/document'
import { exampleOf } from '../src/openapi/example'
import { componentSchemas, refTo, webhookSchemaName, webhooks } from '../src/openapi/schemas'
import { type RouteDeps, routes } from '../src/routes'
import { runGateway, system } from './world'

runGateway({ PUBLIC_URL: 'https://pay.ponte.dev/' })

/** Express's own routes of each router, in the order in which it asks them. */
function servedRoutes(stack: readonly Layer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    // These answer the methods that a path does not have.
    const methods = Object.keys(route?.methods ?? {}).filter(method => method !== '_all' && method !== 'options')
    if (route) return [route.path].flat().flatMap(path => methods.map(method => `${method} ${path}`))
    return handle?.stack ? servedRoutes(handle.stack) : []
  })
}
/** Each operation of the document, by each of its paths. */
const documented = () =>
  Object.entries(openApiDocument({}).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, id: (operation as { operationId: string }).operationId })),
  )
interface Layer {
  route?: { path: string | string[]; methods: Record<string, boolean> }
  handle?: { stack?: Layer[] }
}

test('the document names every scope that an operation needs', () => {
  const { paths } = openApiDocument({}) as { paths: Record<string, Record<string, { security: object[] }>> }
  const both = ['orders:write', 'subscriptions:write']
  expect(paths['/api/v1/customers/erase']?.post?.security).toEqual([{ apiKey: both }, { session: both }])
})

test('the document names every route that is served, and no other', () => {
  // Routers are made without asking anyone; only their shape is looked at.
  const nothing = Router()
  const deps = {
    store: { apiKeys: {} },
    owners: { orders: {}, subscriptions: {}, 'webhook-dispatcher': {}, sandbox: {} },
    tokens: {},
    live: {},
    concurrency: { reads: {}, files: {}, writes: {} },
    docs: nothing,
    pages: nothing,
  } as unknown as RouteDeps
  const served = servedRoutes(routes(deps).stack as unknown as Layer[])
  expect(served.sort()).toEqual(
    documented()
      .map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
      .sort(),
  )
})

test('a public linter finds nothing wrong with it', async () => {
  const { text } = await request(system.url).get('/openapi.json').expect(200)
  const folder = mkdtempSync(join(tmpdir(), 'ponte-openapi-'))
  writeFileSync(join(folder, 'openapi.json'), text)
  const cli = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin/cli.js')
  const report = execFileSync(process.execPath, [cli, 'lint', 'openapi.json', '--format=json'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, HOME: folder, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  rmSync(folder, { recursive: true })
  const { totals, problems } = JSON.parse(report)
  expect({ totals, problems }).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] })
})

test('it is OpenAPI 3.1 with every webhook, every error, and servers as configured', () => {
  const document = openApiDocument({ publicUrl: 'https://pay.ponte.dev' })
  expect(document.openapi).toBe('3.1.0')
  expect(document.servers).toEqual([{ url: 'https://pay.ponte.dev' }])
  expect(Object.keys(document.webhooks).sort()).toEqual([...SPECIFIED_EVENTS, ...OPT_IN_EVENTS, TEST_EVENT].sort())
  const documented = new Set(
    JSON.stringify(document.paths)
      .match(/#\/components\/examples\/\w+/g)
      ?.map(ref => ref.split('/').at(-1)),
  )
  const ofAnyRequest = [...document.info.description.matchAll(/4\d\d `(\w+)`/g)].map(match => match[1])
  expect([...documented, ...ofAnyRequest].sort()).toEqual((Object.keys(errorTable) as ErrorCode[]).sort())
})

test('every answer of the API names the day of the interface that made it', async () => {
  for (const path of ['/api/v1/orders', '/api/v1/checkout/none', '/api/v1/nothing']) {
    expect((await request(system.url).get(path)).headers['ponte-version']).toMatch(/^\d{4}-\d\d-\d\d$/)
  }
  expect((await request(system.url).get('/ping')).headers).not.toHaveProperty('ponte-version')
})

describe('examples', () => {
  const withBody = operationList.filter(([, { body, credentials }]) => body && !credentials.includes('internal'))
  test.each(withBody)('what the document states to send is accepted: %s', (_id, { body, example }) => {
    expect(body?.safeParse(example).error).toBeUndefined()
  })
  const webhookBodies = Object.fromEntries(Object.entries(webhooks).map(([type, schema]) => [webhookSchemaName(type), schema]))
  test.each(Object.entries({ ...answers, ...webhookBodies }))('what the document shows as an answer is one: %s', (name, schema) => {
    expect(schema.safeParse(exampleOf(refTo(name), componentSchemas())).error).toBeUndefined()
  })
})

const shown = operationList.filter(([, { credentials }]) => !credentials.includes('internal'))
const resources = [...new Set(shown.map(([, { tag }]) => tag.toLowerCase())), 'dashboard', 'webhooks'].map(tag => `api/${tag}`)
const guide = [
  '/docs',
  ...['errors', 'quickstart', 'webhooks', 'testing', 'payments', 'exceptions', 'refunds', 'production', 'sdk', 'changes', 'search'].map(
    name => `/docs/${name}`,
  ),
  ...resources.map(name => `/docs/${name}`),
]

describe('the pages for people', () => {
  test.each(guide)('%s loads nothing from elsewhere, and no script but the one that copies', async path => {
    const { text, headers } = await request(system.url).get(path).expect(200)
    expect(headers['content-type']).toContain('text/html')
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    const rest = text.replace('<script type="module" src="/docs/copy.js"></script>', '')
    expect(rest).not.toMatch(/<script|<iframe|\son\w+=|\sstyle=|javascript:/i)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
    expect([...text.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(match => match[1]).filter(url => !/^[/#]/.test(url ?? ''))).toEqual([])
  })

  test('each route, webhook and error code has its place', async () => {
    const { text } = await request(system.url).get('/docs')
    for (const { id, method, path } of documented()) {
      const [, href = ''] = new RegExp(`id="${id.toLowerCase()}"><a href="([^"#]*)#${id.toLowerCase()}"`).exec(text) ?? []
      expect((await request(system.url).get(href).expect(200)).text).toContain(
        `id="${id.toLowerCase()}"><h2><code>${method.toUpperCase()} ${path}<`,
      )
    }
    const { text: errors } = await request(system.url).get('/docs/errors')
    for (const code of Object.keys(errorTable)) expect(errors).toContain(`id="${code}"`)
  })

  test('a search finds the parts that have all of its words, those first that are named so, and takes any question', async () => {
    const found = async (q: string) => {
      const { text } = await request(system.url).get('/docs/search').query({ q }).expect(200)
      return [...text.matchAll(/<li><a href="([^"]*)">/g)].map(([, href]) => href)
    }
    expect((await found('POST /orders/{id}/refunds'))[0]).toBe('/docs/api/refunds#createrefund')
    expect((await found('WEBHOOK_SECRET verify')).length).toBeGreaterThan(0)
    expect(await found('rate_limited')).toContain('/docs/errors#rate_limited')
    expect(await found('verify zebra')).toEqual([])
    const { text } = await request(system.url).get('/docs/search').query({ q: '"><script>x</script>' }).expect(200)
    expect(text).not.toContain('<script>x')
    for (const query of ['', 'q=', 'q=a&q=b', 'q[a]=b', `q=${'%20'.repeat(400)}`, `q=${'x'.repeat(5_000)}`])
      await request(system.url).get(`/docs/search?${query}`).expect(200)
  })

  test('every link of theirs leads somewhere', async () => {
    const pages = guide
    const texts = Object.fromEntries(
      await Promise.all(pages.map(async path => [path, (await request(system.url).get(path).expect(200)).text] as const)),
    )
    const broken = pages.flatMap(from =>
      [...(texts[from] ?? '').matchAll(/ href="([^"]*)"/g)]
        .map(([, href = '']) => href)
        .filter(href => !['/', '/openapi.json', '/docs/style.css', '/docs/mark.svg'].includes(href))
        .filter(href => {
          const [path, id] = href.split('#')
          const text = texts[path || from]
          return text === undefined || (id !== undefined && !text.includes(`id="${id}"`))
        })
        .map(href => `${from}: ${href}`),
    )
    expect(broken).toEqual([])
    expect(texts['/docs/quickstart']).toContain('export PONTE_URL=https://pay.ponte.dev')
  })

  test('an example of an order adds up: the share is what is asked for less the fee, and nothing came yet', () => {
    const example = exampleOf(refTo('Order'), componentSchemas()) as Record<
      'usdc_amount' | 'platform_fee' | 'expected' | 'received',
      string
    >
    const [asked, fee, share] = [parseUsdc(example.usdc_amount), parseUsdc(example.platform_fee), parseUsdc(example.expected)]
    expect([share, fee, example.received]).toEqual([asked - fee, splitFee(asked, 100n).fee, '0.000000'])
  })

  test('the type of a problem leads to its explanation', async () => {
    const { body } = await request(system.url).get('/api/v1/orders').expect(401)
    const [path, code] = body.type.split('#')
    expect((await request(system.url).get(path).expect(200)).text).toContain(`id="${code}"`)
  })
})
