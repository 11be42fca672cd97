import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import { apiGatewayMigrations } from '../../src'

const CHANGED = '20261128160000_refunds_of_named_keys'

test('named keys that could return money by orders:write still can, once, and no other key', async () => {
  const before = mkdtempSync(join(tmpdir(), 'gateway-migrations-'))
  for (const name of readdirSync(apiGatewayMigrations).filter(each => each < CHANGED))
    cpSync(join(apiGatewayMigrations, name), join(before, name), { recursive: true })
  const home = await testDatabase(before)
  const database = openDatabase({ url: home.url, poolSize: 1 })
  try {
    await database.query(
      `INSERT INTO merchants (id, user_id, version, display_name, sealed_webhook_secret, created_at, updated_at)
       VALUES ('01981f3c-0000-7000-8000-000000000001', 'ana', 1, 'Padaria', 'x', now(), now())`,
    )
    await database.query(
      `INSERT INTO named_keys (id, merchant_id, hash, prefix, name, scopes, created_by, created_at, revoked_at)
       SELECT gen_random_uuid(), '01981f3c-0000-7000-8000-000000000001', sha256(convert_to(name, 'UTF8')), 'sk_live_', name, scopes::text[], 'ana', now(), ended::timestamptz
       FROM (VALUES ('a', '{orders:read,orders:write}', NULL), ('b', '{orders:read}', NULL), ('c', '{subscriptions:write}', NULL),
         ('d', '{orders:write}', '2026-11-01'), ('e', '{orders:write,refunds:write}', NULL)) AS made (name, scopes, ended)`,
    )
    await migrate(home.url, apiGatewayMigrations)
    const { rows } = await database.query('SELECT name, scopes FROM named_keys ORDER BY name')
    expect(rows).toEqual([
      { name: 'a', scopes: ['orders:read', 'orders:write', 'refunds:write'] },
      { name: 'b', scopes: ['orders:read'] },
      { name: 'c', scopes: ['subscriptions:write'] },
      { name: 'd', scopes: ['orders:write'] },
      { name: 'e', scopes: ['orders:write', 'refunds:write'] },
    ])
  } finally {
    await database.stop?.()
    await home.drop()
    rmSync(before, { recursive: true })
  }
})
