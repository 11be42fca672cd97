import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import request from 'supertest'
import { startGateway, type TestGateway } from '../world'

let system: TestGateway
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-pages-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'pay.html'), '<!doctype html><title>Pay</title>')
  writeFileSync(join(folder, 'dashboard.html'), '<!doctype html><title>Dashboard</title>')
  writeFileSync(join(folder, 'assets/app-1234.js'), 'export {}')
  writeFileSync(join(folder, 'button.js'), '// a button')
  writeFileSync(join(folder, 'assets/packed-5678.css'), 'b { }')
  writeFileSync(join(folder, 'assets/packed-5678.css.gz'), gzipSync('b{}'))
  writeFileSync(join(folder, 'secret.txt'), 'not a page')
  symlinkSync('/etc/hostname', join(folder, 'secret-link'))
  system = await startGateway({ WEB_FOLDER: folder, AUTH_URL: 'https://auth.ponte.dev/base', PUBLIC_CLIENT_KEY: 'pk_public' })
})
afterAll(async () => {
  await system.stop()
  rmSync(folder, { recursive: true })
})

test.each([
  ['/pay/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90', 'Pay'],
  ['/dashboard', 'Dashboard'],
  ['/dashboard/orders/1?tab=2', 'Dashboard'],
])('%s is the page %s, looked for anew each time, under a strict policy', async (path, title) => {
  const { text, headers } = await request(system.url).get(path).expect(200)
  expect(text).toContain(`<title>${title}</title>`)
  expect(headers['cache-control']).toBe('no-cache')
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("connect-src 'self' https://auth.ponte.dev;")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe-(inline|eval)/)
})

test('who takes gzip gets the packed copy of an asset, others the asset', async () => {
  const packed = await request(system.url).get('/assets/packed-5678.css').set('Accept-Encoding', 'gzip').expect(200)
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-type': 'text/css', vary: 'Accept-Encoding' })
  expect(packed.text).toBe('b{}')
  const plain = await request(system.url).get('/assets/packed-5678.css').set('Accept-Encoding', 'identity').expect(200)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.headers.vary).toBe('Accept-Encoding')
  expect(plain.text).toBe('b { }')
})

test('assets are named by their content and kept for ever', async () => {
  const { headers } = await request(system.url).get('/assets/app-1234.js').expect(200)
  expect(headers['cache-control']).toBe('public,max-age=31536000,immutable')
  expect(headers['content-type']).toContain('javascript')
})

test('the button is loaded by any page, kept for an hour, and then asked for by its date', async () => {
  const { headers, text } = await request(system.url).get('/button.js').expect(200)
  expect(text).toBe('// a button')
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'public, max-age=3600, stale-while-revalidate=604800',
    'x-content-type-options': 'nosniff',
  })
  expect(headers['content-type']).toContain('javascript')
  expect(headers['set-cookie']).toBeUndefined()
  await request(system.url).get('/button.js').set('If-Modified-Since', String(headers['last-modified'])).expect(304)
})

test.each([
  '/assets/none.js',
  '/assets/../secret.txt',
  '/assets/..%2fsecret.txt',
  '/assets/%2e%2e/secret.txt',
  '/secret.txt',
  '/assets/',
  '/pay',
  '/pay/a/b',
])('%s is not served', async path => {
  const { text, status } = await request(system.url).get(path)
  expect(status).toBeGreaterThanOrEqual(400)
  expect(status).toBeLessThan(500)
  expect(text).not.toContain('not a page')
})

test('the pages learn where to log in, and nothing that is secret', async () => {
  const { body } = await request(system.url).get('/settings.json').expect(200)
  expect(body).toEqual({ auth_url: 'https://auth.ponte.dev/base', public_client_key: 'pk_public', sandbox: false })
})

test('without built pages the API is there and a page is 404 with advice', async () => {
  rmSync(join(folder, 'pay.html'))
  rmSync(join(folder, 'dashboard.html'))
  const bare = await startGateway({ WEB_FOLDER: folder })
  const { body } = await request(bare.url).get('/dashboard').expect(404)
  expect(body.detail).toContain('build')
  await request(bare.url).get('/ping').expect(200)
  await bare.stop()
})
