import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encode } from 'fast-png'
import request from 'supertest'
import { bearer, newMerchant, startGateway, type TestGateway } from '../world'

// A link that is sent in a message is shown there with shop and amount; the program that previews it opens nothing.

const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const PAGE = '<!doctype html><html><head><title>Pay</title></head><body></body></html>'
const PUBLIC_URL = 'https://pay.ponte.example'
let system: TestGateway
let folder: string
let merchantId: string
let token: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-previews-'))
  writeFileSync(join(folder, 'pay.html'), PAGE)
  writeFileSync(join(folder, 'ponte.png'), encode({ width: 1, height: 1, data: new Uint8Array(4), channels: 4, depth: 8 }))
  system = await startGateway({ WEB_FOLDER: folder, PUBLIC_URL })
  const made = await newMerchant(system)
  merchantId = made.merchant.id
  token = made.token
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  system.owners.orders.received.length = 0
})

const link = {
  ...{ object: 'payer_link', merchant_name: 'Padaria Estrela', kind: 'invoice', status: 'open', brl_amount: '1500.00' },
  ...{
    brl_amount_min: null,
    brl_amount_max: null,
    description: 'Bolo de casamento',
    external_ref: 'INV-SECRET',
    due_at: null,
    order: null,
  },
}
const answersLink = (fields: object = {}) =>
  system.owners.orders.answers((_req, res) => void res.json({ merchant_id: merchantId, link: { ...link, ...fields } }))
const page = async (path: string) => (await request(system.url).get(path).expect(200).expect('Content-Type', /html/)).text

test('a payment link has shop, amount and description, and nothing else of it', async () => {
  answersLink()
  const { text, headers } = await request(system.url).get(`/pay/link/${ID}`).expect(200)
  expect(text).toBe(
    PAGE.replace(
      '</head>',
      '<meta property="og:type" content="website"><meta property="og:site_name" content="Ponte">' +
        '<meta property="og:title" content="Padaria Estrela · R$ 1.500,00"><meta property="og:description" content="Bolo de casamento">' +
        `<meta property="og:image" content="${PUBLIC_URL}/ponte.png"></head>`,
    ),
  )
  expect(headers['cache-control']).toBe('no-cache')
  expect(String(headers['content-security-policy'])).toContain("default-src 'none'")
  await request(system.url)
    .get('/ponte.png')
    .expect(200)
    .expect('Content-Type', 'image/png')
    .expect('Cache-Control', 'public, max-age=86400')
})

test('a robot that opens it asks the owner to read, and to do nothing', async () => {
  answersLink()
  for (const method of ['get', 'head'] as const) await request(system.url)[method](`/pay/link/${ID}`).set('User-Agent', 'WhatsApp/2.0')
  expect(new Set(system.owners.orders.received.map(({ method, url }) => `${method} ${url}`))).toEqual(
    new Set([`GET /api/v1/payer/link-pages/${ID}`]),
  )
})

test("a shop's picture stands in place of ours", async () => {
  const logo = Buffer.from(encode({ width: 8, height: 8, data: new Uint8Array(256).fill(90), channels: 4, depth: 8 })).toString('base64')
  const { body } = await request(system.url).patch('/api/v1/merchants/me/branding').set(bearer(token)).send({ logo }).expect(200)
  answersLink()
  expect(await page(`/pay/link/${ID}`)).toContain(`<meta property="og:image" content="${PUBLIC_URL}${body.logo_url}">`)
  await request(system.url).patch('/api/v1/merchants/me/branding').set(bearer(token)).send({ logo: null }).expect(200)
})

test.each(['"><script>alert(1)</script>', '</head><script>alert(1)</script>', "$&$`$'"])(
  'a shop and a description of %s stay text',
  async attack => {
    answersLink({ merchant_name: attack, description: attack })
    const text = await page(`/pay/link/${ID}`)
    expect(text).not.toMatch(/<script/)
    expect(text.split('</head>')).toHaveLength(2)
    expect(text.replace(/<meta property="og:[a-z_]+" content="[^"<>]*">/g, '')).toBe(PAGE)
  },
)

test('an order has the same', async () => {
  const checkout = {
    id: ID,
    status: 'pending',
    merchant_name: 'Padaria Estrela',
    brl_amount: '89.90',
    description: null,
    external_ref: 'S-1',
  }
  system.owners.orders.answers((_req, res) => void res.json({ data: [{ merchant_id: merchantId, checkout }] }))
  const text = await page(`/pay/${ID}`)
  expect(text).toContain('<meta property="og:title" content="Padaria Estrela · R$ 89,90">')
  expect(text).not.toMatch(/og:description|S-1/)
  system.owners.orders.received.length = 0
  const browsers = await request(system.url)
    .get(`/pay/${ID}`)
    .set('Sec-Fetch-Dest', 'document')
    .expect('Vary', /Sec-Fetch-Dest/)
  expect([browsers.text, system.owners.orders.received]).toEqual([PAGE, []])
})

test.each([
  ['a token that none has', () => system.owners.orders.answers((_req, res) => void res.status(404).json({ code: 'not_found' }))],
  ['an owner that fails', () => system.owners.orders.answers((_req, res) => void res.status(500).end())],
  ['an owner that answers something else', () => system.owners.orders.answers((_req, res) => void res.json([]))],
  ['an owner that does not answer', () => system.owners.orders.answers(() => undefined)],
  ['no answer asked for: no token', answersLink, '/pay/link/nonsense'],
  ['a receipt', answersLink, `/pay/receipt/${ID}`],
])('the page is plain with %s', async (_, prepare, path = `/pay/link/${ID}`) => {
  prepare()
  expect(await page(path)).toBe(PAGE)
  if (path !== `/pay/link/${ID}`) expect(system.owners.orders.received).toEqual([])
})
