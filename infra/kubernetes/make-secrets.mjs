import { randomBytes } from 'node:crypto'

// Prints every Secret that the manifests refer to, with fresh random values:  node infra/kubernetes/make-secrets.mjs | kubectl apply -f -
// In production a secret store puts Secrets of these names and keys in place instead. RPC_URLS, which may carry a provider's key,
// and the keys of the relayer's accounts are taken from the environment.
const secret = () => randomBytes(32).toString('hex')
const shared = {
  seal: secret(),
  orders: secret(),
  subscriptions: secret(),
  webhooks: secret(),
  listener: secret(),
  rabbitmq: secret(),
  session: secret(),
}
const services = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'webhook-dispatcher']
const passwords = Object.fromEntries(services.map(name => [name, secret()]))
const role = name => name.replaceAll('-', '_')

const rpcUrls = process.env.RPC_URLS ?? 'http://chain:8545'
const keys = {
  'api-gateway': {
    SEAL_KEY: shared.seal,
    ORDERS_TOKEN_SECRET: shared.orders,
    SUBSCRIPTIONS_TOKEN_SECRET: shared.subscriptions,
    WEBHOOKS_TOKEN_SECRET: shared.webhooks,
    CHAIN_LISTENER_TOKEN_SECRET: shared.listener,
    // With an identity provider that has a JWKS, set JWKS_URL in the overlay's settings and leave this out.
    JWT_SECRET: shared.session,
  },
  orders: { GATEWAY_TOKEN_SECRET: shared.orders, RPC_URLS: rpcUrls },
  subscriptions: { GATEWAY_TOKEN_SECRET: shared.subscriptions },
  'chain-listener': { RPC_URLS: rpcUrls },
  'webhook-dispatcher': { GATEWAY_TOKEN_SECRET: shared.webhooks, SEAL_KEY: shared.seal },
}
const secrets = {
  ...Object.fromEntries(
    services.map(name => [
      `${name}-secrets`,
      {
        DATABASE_URL: `postgres://${role(name)}:${passwords[name]}@postgres:5432/${role(name)}`,
        AMQP_URL: `amqp://ponte:${shared.rabbitmq}@rabbitmq:5672`,
        ...keys[name],
      },
    ]),
  ),
  // The relayer stands on the listener's database, and it alone has the keys of the accounts that pay for gas.
  'relayer-secrets': {
    DATABASE_URL: `postgres://chain_listener:${passwords['chain-listener']}@postgres:5432/chain_listener`,
    AMQP_URL: 'amqp://unused',
    GATEWAY_TOKEN_SECRET: shared.listener,
    RPC_URLS: rpcUrls,
    ...Object.fromEntries(
      ['RELAYER_PRIVATE_KEY', 'RELAYER_KMS_KEY', 'GASLESS_PRIVATE_KEY', 'GASLESS_KMS_KEY'].flatMap(name =>
        process.env[name] ? [[name, process.env[name]]] : [],
      ),
    ),
  },
  postgres: {
    POSTGRES_PASSWORD: secret(),
    ...Object.fromEntries(services.map(name => [`${role(name).toUpperCase()}_DB_PASSWORD`, passwords[name]])),
  },
  rabbitmq: { RABBITMQ_DEFAULT_USER: 'ponte', RABBITMQ_DEFAULT_PASS: shared.rabbitmq },
}
for (const [name, stringData] of Object.entries(secrets)) {
  console.log(`---\n${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'ponte' }, stringData }, null, 2)}`)
}
