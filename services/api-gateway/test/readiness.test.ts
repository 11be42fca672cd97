import { startTcpProxy, type TcpProxy } from '@ponte/local-servers'
import { readConfig, silentLogger, until } from '@ponte/service-kit'
import { testBroker, testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { apiGatewayConfig, apiGatewayMigrations, createApiGateway } from '../src'
import { SEAL_KEY } from './world'
import { AUDIENCE, ISSUER, startIdentity } from './world/identity'

let gateway: ReturnType<typeof createApiGateway>
let database: Awaited<ReturnType<typeof testDatabase>>
let identity: Awaited<ReturnType<typeof startIdentity>>
let postgres: TcpProxy
let rabbitmq: TcpProxy

beforeAll(async () => {
  database = await testDatabase(apiGatewayMigrations)
  identity = await startIdentity()
  const broker = testBroker()
  postgres = await startTcpProxy(() => [database.url])
  rabbitmq = await startTcpProxy(() => [broker.url])
  const secret = 'a-test-secret-of-at-least-32-characters'
  const config = readConfig(apiGatewayConfig, {
    ...{
      DATABASE_URL: postgres.through(database.url),
      AMQP_URL: rabbitmq.through(broker.url),
      AMQP_NAMESPACE: broker.namespace,
      HOST: '127.0.0.1',
      PORT: '0',
      OPS_PORT: '0',
    },
    ...{ ORDERS_URL: 'http://127.0.0.1:1', SUBSCRIPTIONS_URL: 'http://127.0.0.1:1', WEBHOOKS_URL: 'http://127.0.0.1:1', SEAL_KEY },
    ...{ ORDERS_TOKEN_SECRET: secret, SUBSCRIPTIONS_TOKEN_SECRET: secret, WEBHOOKS_TOKEN_SECRET: secret },
    ...{ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWKS_URL: identity.jwksUrl },
  })
  gateway = createApiGateway(config, { logger: silentLogger })
  await gateway.start()
})
afterAll(async () => {
  postgres.refuse(false)
  rabbitmq.refuse(false)
  await gateway.stop()
  for (const part of [postgres, rabbitmq, identity]) await part.stop()
  await database.drop()
})

const ready = () => request(`http://127.0.0.1:${gateway.ops.port()}`).get('/readyz')
const becomes = (status: number) => until(async () => (await ready()).status === status, `readiness did not become ${status}`)

test('readiness names PostgreSQL when it is gone, the process lives on, callers get 503, and it heals by itself', async () => {
  await becomes(200)
  postgres.refuse(true)
  await becomes(503)
  expect((await ready()).body).toMatchObject({ status: 'not_ready', parts: { database: false, http: true } })
  await request(`http://127.0.0.1:${gateway.ops.port()}`).get('/healthz').expect(200)
  const { body, headers } = await request(`http://127.0.0.1:${gateway.http.port()}`)
    .get('/api/v1/orders')
    .set('Authorization', `Bearer sk_live_${'0'.repeat(64)}`)
    .expect(503)
  expect(body.code).toBe('service_unavailable')
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  await request(`http://127.0.0.1:${gateway.http.port()}`).get('/ping').expect(200)
  postgres.refuse(false)
  await becomes(200)
})

test('RabbitMQ away is a matter of metrics, not of readiness: merchants are still created, and their events leave when it is back', async () => {
  const connections = async () => {
    const { text } = await request(`http://127.0.0.1:${gateway.ops.port()}`).get('/metrics')
    return Number(/^ponte_bus_connections\{.*\} (\d)$/m.exec(text)?.[1])
  }
  await becomes(200)
  await until(async () => (await connections()) === 2, 'the broker is not connected')
  rabbitmq.refuse(true)
  await until(async () => (await connections()) === 0, 'the cut was not noticed')
  await becomes(200)
  await request(`http://127.0.0.1:${gateway.http.port()}`)
    .post('/api/v1/merchants')
    .set('Authorization', `Bearer ${identity.sign()}`)
    .send({ display_name: 'Padaria' })
    .expect(201)
  rabbitmq.refuse(false)
  await until(async () => (await connections()) === 2, 'the broker is not connected again')
  await gateway.idle()
})
