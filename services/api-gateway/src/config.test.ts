import { readConfig } from '@ponte/service-kit'
import { apiGatewayConfig } from './config'

const secret = 'a-test-secret-of-at-least-32-characters'
const settings = {
  DATABASE_URL: 'postgres://x',
  AMQP_URL: 'amqp://x',
  SEAL_KEY: 'ab'.repeat(32),
  ORDERS_URL: 'http://orders',
  ORDERS_TOKEN_SECRET: secret,
  SUBSCRIPTIONS_URL: 'http://subscriptions',
  SUBSCRIPTIONS_TOKEN_SECRET: secret,
  WEBHOOKS_URL: 'http://webhooks',
  WEBHOOKS_TOKEN_SECRET: secret,
  JWT_ISSUER: 'https://identity.example',
  JWT_SECRET: secret,
}
const read = (more: Record<string, string>) => readConfig(apiGatewayConfig, { ...settings, ...more })

describe('PUBLIC_URL', () => {
  test.each(['0.0.0.0', '10.0.0.5', '::'])('is required when HOST is %s', HOST => {
    expect(() => read({ HOST })).toThrow('PUBLIC_URL: is required unless HOST is a loopback address')
  })
  test('is required by default', () => {
    expect(() => read({})).toThrow('PUBLIC_URL')
  })
  test('is required behind a proxy, which browsers reach from elsewhere', () => {
    expect(() => read({ HOST: '127.0.0.1', TRUSTED_PROXIES: '1' })).toThrow('PUBLIC_URL')
  })
  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('may be absent when HOST is %s', HOST => {
    expect(read({ HOST }).PUBLIC_URL).toBeUndefined()
  })
  test.each(['http://pay.example', 'http://10.0.0.5:8080', 'http://localhost.example', 'http://127.0.0.1.example'])(
    'must not be %s',
    url => {
      expect(() => read({ PUBLIC_URL: url })).toThrow('must be https://')
    },
  )
  test.each(['https://pay.example', 'http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])('may be %s', url => {
    expect(read({ PUBLIC_URL: url }).PUBLIC_URL).toBe(url)
  })
})
