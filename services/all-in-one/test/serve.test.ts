import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceNames } from '../src'

it('names no identity provider of its own where money is real', () => {
  const state = mkdtempSync(join(tmpdir(), 'ponte-serve-'))
  const databases = serviceNames.map(name => [`${name.replaceAll('-', '_').toUpperCase()}_DATABASE_URL`, 'postgresql://127.0.0.1:9/none'])
  const address = `0x${'5a'.repeat(20)}`
  const chain = { CHAIN_ID: '8453', DEVELOPMENT_CHAIN: 'false', TOKEN_ADDRESS: address, ROUTER_ADDRESS: address }
  const args = ['--amqp', 'amqp://127.0.0.1:9', '--rpc', 'http://127.0.0.1:9', '--state', state]
  const { status, stderr } = spawnSync(process.execPath, [join(__dirname, '../dist/serve.js'), ...args], {
    env: { PATH: process.env.PATH, ...Object.fromEntries(databases), ...chain },
    encoding: 'utf8',
  })
  rmSync(state, { recursive: true })
  expect([status, stderr]).toEqual([1, expect.stringContaining('Set JWT_ISSUER')])
})
