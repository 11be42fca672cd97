import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProfile, type Profile } from './profile'

const URL_OF = 'https://pay.example.com'
const KEY = 'sk_live_0123456789abcdef'

function place(env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'ponte-'))
  const config = { PONTE_CONFIG_DIR: join(home, 'config') }
  const open = (given: Record<string, string> = env) => openProfile({ env: { ...config, ...given }, home, cwd: home })
  return { home, open, kept: () => readFileSync(open().path, 'utf8') }
}
const environment = { PONTE_API_KEY: KEY, PONTE_URL: URL_OF }

test('what the environment or a system in the folder gave is kept nowhere, and the position of a forwarding is', () => {
  const { open, kept } = place(environment)
  const listen: Profile['listen'] = { secret: 'whsec_made', positions: { 'http://127.0.0.1:3000/': 7 } }
  open().save({ listen })
  expect(kept()).not.toContain(KEY)
  expect(open().read()).toEqual({ base_url: URL_OF, api_key: KEY, listen })
  expect(() => open({}).read()).toThrow('Not logged in')
  // As an earlier version left it.
  const profiles = { [`${URL_OF} 89abcdef`]: { base_url: URL_OF, api_key: KEY, listen } }
  writeFileSync(open().path, JSON.stringify({ current: null, profiles }))
  open().save({ listen })
  expect(kept()).not.toContain(KEY)

  const demo = place()
  mkdirSync(join(demo.home, '.ponte'))
  const running = { gateway_url: URL_OF, demo_merchant: { api_key: KEY }, demo_user: { password: 'of the demo' } }
  writeFileSync(join(demo.home, '.ponte/embedded.json'), JSON.stringify(running))
  demo.open().save({ listen })
  expect(demo.kept()).not.toMatch(new RegExp(`${KEY}|of the demo`))
  expect(demo.open().read()).toMatchObject({ api_key: KEY, listen })
})

test('a login is kept, and stays what it is while the environment names another Ponte', () => {
  const { open } = place()
  open().save({ base_url: URL_OF, api_key: KEY })
  open().save({ listen: { positions: { a: 1 } } })
  const other = open({ PONTE_API_KEY: 'sk_live_of_another', PONTE_URL: 'https://other.example.com' })
  expect(other.read().listen).toBeUndefined()
  other.save({ listen: { positions: { b: 2 } } })
  expect(open().read()).toEqual({ base_url: URL_OF, api_key: KEY, listen: { positions: { a: 1 } } })
})
