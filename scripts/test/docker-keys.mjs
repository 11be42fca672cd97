import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { askChain, withPayments } from './docker-faults.mjs'
import { PROXY } from './docker-installation.mjs'

// The keys of docs/operating/rotate.md that lie elsewhere: those of the identity provider and of KMS. npm run docker-trial publishes and keeps them itself, where the containers reach it, and changes them while
// orders are made and paid.

const SESSION_EVERY_MS = 250
const CALM_MS = 5_000
const COIN = '0xde0b6b3a7640000'
const NO_PRIVATE_KEYS = { RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '', KMS_REGION: 'sa-east-1' }
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

/** A server on this machine, by the address at which the containers of `ponte` see it. */
async function serve({ run, compose }, answer) {
  const { output: proxy } = await compose('ps', '--quiet', 'proxy')
  const gateway = '{{ range .NetworkSettings.Networks }}{{ .Gateway }}{{ end }}'
  const { output } = await run('docker', ['inspect', '--format', gateway, proxy.trim()])
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer(request, body)))
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  return { url: `http://${output.trim()}:${server.address().port}`, server }
}

const roll = async ({ run, allIsWell }, service) => {
  const { code, output } = await run('infra/compose/ops', ['roll', service, '--yes'])
  if (code !== 0) throw new Error(output)
  await allIsWell()
}

async function logIn({ compose }) {
  const { output } = await compose('logs', '--no-log-prefix', 'development')
  const printed = output.slice(output.lastIndexOf('ready to try'))
  const named = name => new RegExp(`"${name}": ?"([^"]*)"`).exec(printed)?.[1]
  const response = await fetch('http://127.0.0.1:8090/auth/v1/token?grant_type=password', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', apikey: named('public_client_key') },
    body: JSON.stringify({ email: named('user'), password: named('password') }),
  })
  return (await response.json()).access_token
}

function newSigner(kid) {
  const { publicKey, privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const header = Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'JWT', kid })).toString('base64url')
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
    resign(token) {
      const text = `${header}.${token.split('.')[1]}`
      return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    },
  }
}

/** The next key is published, signs, and is alone, while a session reads its merchant. */
export async function rotateIdentity(installation) {
  const [first, next] = [newSigner('first'), newSigner('next')]
  let published = [first.jwk]
  const { url, server } = await serve(installation, () => ({ keys: published }))
  try {
    const token = await logIn(installation)
    const { JWKS_URL: provider } = parseEnv(readFileSync(join(installation.folder, '.env'), 'utf8'))
    installation.set({ JWKS_URL: url })
    await roll(installation, 'api-gateway')
    return await withPayments(installation, async (_traffic, wrong) => {
      let signer = first
      let isOn = true
      let asked = 0
      const reading = (async () => {
        for (; isOn; asked++) {
          const response = await fetch(`${PROXY}/api/v1/merchants/me`, { headers: { Authorization: `Bearer ${signer.resign(token)}` } })
          if (!response.ok) wrong.push(`${response.status} ${await response.text()}`)
          await pause(SESSION_EVERY_MS)
        }
      })()
      const steps = [
        () => (published = [first.jwk, next.jwk]),
        () => (signer = next),
        () => (published = [next.jwk]),
        // Without a restart a gateway knows the withdrawn key for ten minutes more.
        () => {
          installation.set({ JWKS_URL: `${url}/next` })
          return roll(installation, 'api-gateway')
        },
      ]
      for (const step of steps) {
        await pause(CALM_MS)
        await step()
      }
      isOn = false
      await reading
      const before = await fetch(`${PROXY}/api/v1/merchants/me`, { headers: { Authorization: `Bearer ${first.resign(token)}` } })
      console.log(`   ${asked} requests of a session, ${wrong.length} failed; one signed by the key of before: ${before.status}`)
      if (before.status !== 401) wrong.push(`the key of before still signs: ${before.status}`)
      installation.set({ JWKS_URL: provider })
      await roll(installation, 'api-gateway')
    })
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** GetPublicKey and Sign of KMS with keys of its own. Node signs no digest as it is, openssl does. */
function startKeys(folder) {
  const keys = new Map()
  return {
    async create() {
      const id = randomBytes(8).toString('hex')
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
      writeFileSync(join(folder, id), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
      const der = publicKey.export({ type: 'spki', format: 'der' })
      keys.set(id, der.toString('base64'))
      // The point of the key ends its DER; Node has no keccak, the chain has.
      const hash = await askChain('web3_sha3', [`0x${der.subarray(-64).toString('hex')}`])
      return { id, address: `0x${hash.slice(-40)}` }
    },
    answer(request, body) {
      const { KeyId, Message } = JSON.parse(body)
      if (String(request.headers['x-amz-target']).endsWith('GetPublicKey'))
        return { KeyId, KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY', PublicKey: keys.get(KeyId) }
      const Signature = execFileSync('openssl', ['pkeyutl', '-sign', '-inkey', join(folder, KeyId)], {
        input: Buffer.from(Message, 'base64'),
      })
      return { KeyId, Signature: Signature.toString('base64') }
    },
  }
}

/** From private keys to keys in KMS, and to others there. The relayer is of no use afterwards: these keys end with it. */
export async function rotateRelayer(installation) {
  const { set, folder, becomes } = installation
  const kms = startKeys(join(folder, '..'))
  const { url, server } = await serve(installation, kms.answer)
  const lines = { AWS_ENDPOINT_URL_KMS: url, AWS_ACCESS_KEY_ID: 'trial', AWS_SECRET_ACCESS_KEY: 'trial' }
  writeFileSync(
    join(folder, '.env.relayer'),
    Object.entries(lines)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  try {
    return await withPayments(installation, async () => {
      for (const _turn of [1, 2]) {
        const accounts = [await kms.create(), await kms.create()]
        for (const { address } of accounts) await askChain('anvil_setBalance', [address, COIN])
        const [relayer, gasless] = accounts.map(({ id }) => id)
        set({ ...NO_PRIVATE_KEYS, RELAYER_KMS_KEY: relayer, GASLESS_KMS_KEY: gasless })
        await roll(installation, 'relayer')
        const sent = await becomes('the new account sent nothing', async () => {
          const nonce = await askChain('eth_getTransactionCount', [accounts[0].address, 'latest'])
          return { done: BigInt(nonce) > 0n && Number(nonce), output: nonce }
        })
        console.log(`   ${accounts[0].address} has sent ${sent}`)
      }
    })
  } finally {
    server.close()
    server.closeAllConnections()
  }
}
