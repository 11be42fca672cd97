import { randomBytes } from 'node:crypto'

// Prints every Secret that an overlay refers to, with fresh random values, once: `create` refuses to replace SEAL_KEY, DOSSIER_KEY or a password that is in use.
//  node infra/kubernetes/make-secrets.mjs production | kubectl create -f -
// A secret store may put Secrets of these names and keys in place instead. RPC_URLS, which may carry a provider's key, and the keys of the
// relayer's accounts (RELAYER_KMS_KEY and GASLESS_KMS_KEY, or …_PRIVATE_KEY) are taken from the environment. `production network-2` prints those of components/network-2 alone,
// by RPC_URLS and keys of that network and by CHAIN_LISTENER_TOKEN_SECRET, which stands in api-gateway-secrets.
const [, , overlay, network] = process.argv
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
  listener: process.env.CHAIN_LISTENER_TOKEN_SECRET ?? secret(),
  rabbitmq: secret(),
  session: secret(),
}
if (network !== undefined && !process.env.CHAIN_LISTENER_TOKEN_SECRET) {
  console.error('Set CHAIN_LISTENER_TOKEN_SECRET to that of the secret api-gateway-secrets.')
  process.exit(1)
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
  'relayer-secrets': relayerSecrets('chain-listener'),
  ...(inProduction ? rolesOfOperator() : serversOfDevelopment()),
}
const further = `chain-listener-${network?.replace('network-', '')}`
if (network !== undefined) passwords[further] = secret()
const ofNetwork = () => ({
  [`${further}-secrets`]: { DATABASE_URL: databaseUrl(further), RPC_URLS: rpcUrls },
  [further.replace('chain-listener', 'relayer').concat('-secrets')]: relayerSecrets(further),
  [`postgres-${further}`]: { username: role(further), password: passwords[further] },
})
for (const [name, stringData] of Object.entries(network === undefined ? secrets : ofNetwork())) {
  const type = inProduction && name.startsWith('postgres-') ? { type: 'kubernetes.io/basic-auth' } : {}
  console.log(
    `---\n${JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'ponte' }, ...type, stringData }, null, 2)}`,
  )
}

/** The relayer stands on its listener's database, and it alone has the keys of the accounts that pay for gas. */
function relayerSecrets(listener) {
  return {
    DATABASE_URL: databaseUrl(listener),
    // The relayer publishes nothing by itself.
    AMQP_URL: 'amqp://unused',
    GATEWAY_TOKEN_SECRET: shared.listener,
    RPC_URLS: rpcUrls,
    ...Object.fromEntries(
      ['RELAYER_PRIVATE_KEY', 'RELAYER_KMS_KEY', 'GASLESS_PRIVATE_KEY', 'GASLESS_KMS_KEY'].flatMap(name =>
        process.env[name] ? [[name, process.env[name]]] : [],
      ),
    ),
  }
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
