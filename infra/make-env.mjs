import { randomBytes } from 'node:crypto'
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Writes the .env of docker-compose.yml: fresh random secrets, and settings for the local chain of `--profile dev`, whose contract addresses
// follow from its first test account. For another network change the block at the end; an existing .env is never overwritten. `.env.example` is the same
// text without the secrets; infra/make-derived.mjs writes it.
const secrets = [
  'POSTGRES_PASSWORD',
  ...['API_GATEWAY', 'ORDERS', 'SUBSCRIPTIONS', 'CHAIN_LISTENER', 'CHAIN_LISTENER_2', 'CHAIN_LISTENER_3', 'WEBHOOK_DISPATCHER'].map(
    name => `${name}_DB_PASSWORD`,
  ),
  'RABBITMQ_PASSWORD',
  'SEAL_KEY',
  'DOSSIER_KEY',
  'ORDERS_TOKEN_SECRET',
  'SUBSCRIPTIONS_TOKEN_SECRET',
  'WEBHOOKS_TOKEN_SECRET',
  'CHAIN_LISTENER_TOKEN_SECRET',
  'PUBLIC_CLIENT_KEY',
  // Of infra/compose/production.yml alone.
  'BACKUP_PASSPHRASE',
  'GRAFANA_PASSWORD',
]

/** The text of an .env whose secrets come from `secret`. */
export const environmentText = secret => `# Secrets of this installation; keep them out of any repository.
${secrets.map(name => `${name}=${secret()}`).join('\n')}

# The release whose images run: what docker compose build makes, and infra/compose/ops roll begins to use.
PONTE_VERSION=local

# Where payers and merchants reach the gateway, and the port it is published on.
PUBLIC_URL=http://127.0.0.1:8080
PONTE_PORT=8080
# How many proxies stand before it, whose X-Forwarded-For it believes: 0 when payers reach it directly, 1 behind one load balancer.
# Too low, and all callers share the proxy's rate limit; too high, and a caller chooses whose limit to use up.
TRUSTED_PROXIES=0

# Mail to members: smtps://user:password@mail.example and Ponte <no-reply@example.com>; none without.
SMTP_URL=
MAIL_FROM=

# The identity provider. These are the development one's, of --profile dev.
AUTH_URL=http://127.0.0.1:8090
JWKS_URL=http://development:8090/auth/v1/.well-known/jwks.json
JWT_ISSUER=http://127.0.0.1:8090/auth/v1
JWT_AUDIENCE=authenticated

# The chain. These are the local one's, of --profile dev: test tokens, no real money.
NETWORK=anvil
CHAIN_ID=31337
# A chain of the developer's own. On any other, leave it out, and set FEE_RECEIVERS to where the router sends its fee and FEES_BPS to its fee.
DEVELOPMENT_CHAIN=true
# live where money is real. test gives keys sk_test_… and pages with a banner; development is a developer's own machine.
PONTE_MODE=development
RPC_URLS=http://chain:8545
WS_URL=ws://chain:8545
TOKEN_ADDRESS=0x5FbDB2315678afecb367f032d93F642f64180aa3
ROUTER_ADDRESS=0x0b23252FF030c18b796b1b9FE2Cc6E808379a13E
# The router again: what deposit addresses are made by. none without a relayer: orders have no such address then.
DEPOSIT_FACTORY=0x0b23252FF030c18b796b1b9FE2Cc6E808379a13E
# Two accounts that pay for gas, of sweeps and of payers' signatures; these are test accounts of anvil, whose keys are public. On a network with
# real money name keys in AWS KMS instead (RELAYER_KMS_KEY, GASLESS_KMS_KEY), and COIN_USDC: what the native coin is worth.
RELAYER_PRIVATE_KEY=0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a
GASLESS_PRIVATE_KEY=0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6
PLATFORM_FEE_BPS=100
CONFIRMATIONS=1
START_BLOCK=0

# The exchange rate: a fixed one here; Chainlink and HTTP sources are described in services/orders/src/config.ts.
RATE_STATIC=5.42

# production refuses the next line; development needs it to reach the sample receiver of --profile dev.
NODE_ENV=development
WEBHOOK_ALLOW_CIDRS=172.31.77.10/32
LOG_LEVEL=info

# Of infra/compose/production.yml alone: what this installation is called in alerts, where its runbook is read (the address before /docs/operating), who is
# woken (mail, and the webhook of a pager or a chat), and the service elsewhere that raises the alarm when nothing comes any more.
PONTE_INSTALLATION=production
PONTE_RUNBOOKS=
ALERT_MAIL_TO=
ALERT_MAIL_FROM=
ALERT_SMTP_HOST=
ALERT_SMTP_USER=
ALERT_SMTP_PASSWORD=
ALERT_WEBHOOK_URL=
HEARTBEAT_URL=
`

if (process.argv[1] === import.meta.filename) write(resolve(process.argv[2] ?? join(import.meta.dirname, '../.env')))

function write(target) {
  try {
    writeFileSync(
      target,
      environmentText(() => randomBytes(32).toString('hex')),
      { flag: 'wx', mode: 0o600 },
    )
    chmodSync(target, 0o600)
    console.log(`${target} was written with fresh secrets.`)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    console.error(`${target} exists and was left as it is. Remove it first if its secrets may go.`)
    process.exit(1)
  }
}
