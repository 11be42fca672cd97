import { randomBytes } from 'node:crypto'

// Prints every Secret that an overlay refers to, with fresh random values:  node infra/kubernetes/make-secrets.mjs production | kubectl apply -f -
// A secret store may put Secrets of these names and keys in place instead. RPC_URLS, which may carry a provider's key, and the keys of the
// relayer's accounts (RELAYER_KMS_KEY and GASLESS_KMS_KEY, or …_PRIVATE_KEY) are taken from the environment.
const overlay = process.argv[2]
if (overlay !== 'development' && overlay !== 'production') {
  console.error('Name the overlay: node infra/kubernetes/make-secrets.mjs development, or production.')
  process.exit(1)
}
const inProduction = overlay === 'production'
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

const rpcUrls = process.env.RPC_URLS ?? (inProduction ? undefined : 'http://chain:8545')
if (!rpcUrls) {
  console.error("Set RPC_URLS to the chain's end points, comma-separated; two or more, so that they check each other.")
  process.exit(1)
}
if (inProduction && !process.env.RELAYER_KMS_KEY && !process.env.RELAYER_PRIVATE_KEY) {
  console.error(
    'Set RELAYER_KMS_KEY to the account that pays for sweeps of deposit addresses, and GASLESS_KMS_KEY to the one for payers without gas.',
  )
  process.exit(1)
}
// CloudNativePG's service of the writable instance; the operator of RabbitMQ makes its own secret, from which the overlay takes AMQP_URL.
const databaseHost = inProduction ? 'postgres-rw' : 'postgres'
const databaseUrl = name => `postgres://${role(name)}:${passwords[name]}@${databaseHost}:5432/${role(name)}`
const amqp = inProduction ? {} : { AMQP_URL: `amqp://ponte:${shared.rabbitmq}@rabbitmq:5672` }
const keys = {
  'api-gateway': {
    SEAL_KEY: shared.seal,
    ORDERS_TOKEN_SECRET: shared.orders,
    SUBSCRIPTIONS_TOKEN_SECRET: shared.subscriptions,
    WEBHOOKS_TOKEN_SECRET: shared.webhooks,
    CHAIN_LISTENER_TOKEN_SECRET: shared.listener,
    // In production the identity provider's JWKS_URL verifies sessions.
    ...(inProduction ? {} : { JWT_SECRET: shared.session }),
  },
  orders: { GATEWAY_TOKEN_SECRET: shared.orders, RPC_URLS: rpcUrls, DOSSIER_KEY: secret() },
  subscriptions: { GATEWAY_TOKEN_SECRET: shared.subscriptions },
  'chain-listener': { RPC_URLS: rpcUrls },
  'webhook-dispatcher': { GATEWAY_TOKEN_SECRET: shared.webhooks, SEAL_KEY: shared.seal },
}
const secrets = {
  ...Object.fromEntries(
    services.map(name => [
      `${name}-secrets`,
      {
        DATABASE_URL: databaseUrl(name),
        ...amqp,
        ...keys[name],
      },
    ]),
  ),
  // The relayer stands on the listener's database, and it alone has the keys of the accounts that pay for gas.
  'relayer-secrets': {
    DATABASE_URL: databaseUrl('chain-listener'),
    // The relayer publishes nothing by itself.
    AMQP_URL: 'amqp://unused',
    GATEWAY_TOKEN_SECRET: shared.listener,
    RPC_URLS: rpcUrls,
    ...Object.fromEntries(
      ['RELAYER_PRIVATE_KEY', 'RELAYER_KMS_KEY', 'GASLESS_PRIVATE_KEY', 'GASLESS_KMS_KEY'].flatMap(name =>
        process.env[name] ? [[name, process.env[name]]] : [],
      ),
    ),
  },
  ...(inProduction ? rolesOfOperator() : serversOfDevelopment()),
}
for (const [name, stringData] of Object.entries(secrets)) {
  const type = name in rolesOfOperator() ? { type: 'kubernetes.io/basic-auth' } : {}
  console.log(
    `---\n${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'ponte' }, ...type, stringData }, null, 2)}`,
  )
}

/** Given to its roles by CloudNativePG. */
function rolesOfOperator() {
  return Object.fromEntries(services.map(name => [`postgres-${name}`, { username: role(name), password: passwords[name] }]))
}

function serversOfDevelopment() {
  return {
    postgres: {
      POSTGRES_PASSWORD: secret(),
      ...Object.fromEntries(services.map(name => [`${role(name).toUpperCase()}_DB_PASSWORD`, passwords[name]])),
    },
    rabbitmq: { RABBITMQ_DEFAULT_USER: 'ponte', RABBITMQ_DEFAULT_PASS: shared.rabbitmq },
  }
}
