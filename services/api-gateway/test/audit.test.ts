import { randomBytes } from 'node:crypto'
import { migrate, openDatabase } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { apiGatewayMigrations } from '../src'
import { bearer, newMerchant, startGateway, type TestGateway } from './world'

let system: TestGateway
beforeAll(async () => {
  system = await startGateway({ TRUSTED_PROXIES: '1', PUBLIC_URL: 'https://pay.ponte.dev' })
})
afterAll(() => system.stop())

const AUDIT = '/api/v1/merchants/me/audit'
const audit = (token: string, query = '') => request(system.url).get(`${AUDIT}${query}`).set(bearer(token))

test('who changed what, when and from where is read by page, by action and by a key with the scope', async () => {
  const { token, merchant } = await newMerchant(system, { display_name: 'Padaria' }, 'auditor')
  const from = (address: string, id: string) => ({ ...bearer(token), 'X-Forwarded-For': address, 'X-Request-Id': id })
  await request(system.url).patch('/api/v1/merchants/me').set(from('203.0.113.77', 'request-1')).send({ display_name: 'Nova' }).expect(200)
  await request(system.url).post('/api/v1/merchants/me/rotate-key').set(from('2001:db8:1:2::3', 'request-2')).expect(200)
  const { body: key } = await request(system.url)
    .post('/api/v1/merchants/me/api-keys')
    .set(bearer(token))
    .send({ name: 'auditor', scopes: ['audit:read'] })
    .expect(201)

  const { body: page } = await audit(token, '?limit=2').expect(200)
  expect(page).toMatchObject({ object: 'list', has_more: true })
  const { body: rest } = await audit(token, `?starting_after=${page.data[1].id}`).expect(200)
  const entries = [...page.data, ...rest.data]
  expect(entries.map(({ action, changed, network }) => [action, changed, network])).toEqual([
    ['named_key.create', ['api_key', 'audit:read'], '127.0.0.0/24'],
    ['api_key.rotate', ['api_key'], '2001:db8:1::/48'],
    ['merchant.update', ['display_name'], '203.0.113.0/24'],
    ['merchant.create', ['merchant'], '127.0.0.0/24'],
  ])
  expect(entries[2]).toMatchObject({ object: 'audit_entry', user_id: 'auditor', request_id: 'request-1' })
  expect((await audit(token, '?action=api_key.rotate')).body.data).toEqual([entries[1]])
  expect((await request(system.url).get('/api/v1/audit').set(bearer(key.api_key)).expect(200)).body.data).toEqual(entries)
  const file = await request(system.url).get('/api/v1/audit.csv').set(bearer(key.api_key)).expect(200)
  expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
  const lines = file.text.split('\r\n')
  expect(lines[0]).toBe('\ufeffcreated_at,action,changed,user_id,network,request_id,id')
  expect(lines.slice(1, -1).map(line => line.split(',')[1])).toEqual(entries.map(({ action }) => action))
  const some = await audit(token, '.csv?action=merchant.create').expect(200)
  expect(some.text.split('\r\n')).toHaveLength(3)
  await audit(token, '.csv?limit=1').expect(400)
  const other = await newMerchant(system)
  expect(JSON.stringify((await audit(other.token).expect(200)).body)).not.toContain(merchant.id)
  await audit(token, '?action=%00').expect(400)
})

test('the log is append-only, even for the role that owns the table', async () => {
  const { token } = await newMerchant(system)
  const attempts = ['UPDATE audit_log SET user_id = user_id', 'DELETE FROM audit_log', 'TRUNCATE audit_log']
  for (const attempt of attempts) await expect(system.sql.query(attempt)).rejects.toMatchObject({ code: '42501' })
  expect((await audit(token)).body.data).toHaveLength(1)
})

test('a service that migrates and runs as a role of its own has no right to change the log', async () => {
  const database = await testDatabase()
  const role = `role_${randomBytes(6).toString('hex')}`
  const admin = openDatabase({ url: database.url, poolSize: 1 })
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
  const url = new URL(database.url)
  try {
    await admin.query(`ALTER SCHEMA public OWNER TO ${role}`)
    Object.assign(url, { username: role, password: role })
    await migrate(url.href, apiGatewayMigrations)
    const { rows } = await admin.query(
      `SELECT privilege FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
       WHERE has_table_privilege('${role}', 'audit_log', privilege)`,
    )
    expect(rows.map(({ privilege }) => privilege)).toEqual(['SELECT', 'INSERT'])
  } finally {
    await admin.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await admin.stop?.()
    await database.drop()
  }
})
