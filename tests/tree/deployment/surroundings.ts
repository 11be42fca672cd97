import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIdentityProvider } from '@ponte/all-in-one'
import { chainActions, type LocalChain, startFaultProxy, startHttpServer, startLocalChain } from '@ponte/local-servers'
import { deployRouter, supportedChains } from '@ponte/payment-router'

// Around an installation and not rendered: the chain, the identity provider, sources of exchange rates, a collector of traces.

const BASE = 8453
/** The router of a chain of test accounts has this address already, with another token. */
const SALT = `0x${'01'.padStart(64, '0')}`
const CLIENT_KEY = 'pk_test'
const BLOCKS = { blockTimeS: 1, mixedMining: true }

/** The chain of a developer, with the contracts at the addresses that .env and the development overlay name. */
export const startDevelopmentChain = (): Promise<LocalChain> => startLocalChain(BLOCKS)

/** A chain with the id of Base, a token where USDC is on Base, and a router for it. */
export async function startBaseChain(): Promise<LocalChain> {
  const chain = await startLocalChain({ ...BLOCKS, chainId: BASE })
  const { provider, usdcAddress: copied, feeBps, feeReceiver } = chain
  const usdcAddress = supportedChains[BASE]?.usdcAddress ?? ''
  await provider.send('anvil_setCode', [usdcAddress, await provider.getCode(copied)])
  const routerAddress = await deployRouter(await provider.getSigner(0), { usdcAddress, feeBps, feeReceiver, salt: SALT })
  return { ...chain, ...chainActions(provider, { usdcAddress, routerAddress }), usdcAddress, routerAddress }
}

/** A second end point of the chain. */
export const startSecondNode = (chain: LocalChain) => startFaultProxy(chain.rpcUrl)

/** Answers as the sources of the production overlay do, and takes traces. */
export async function startSources() {
  const answers: Record<string, () => unknown> = {
    '/v2/exchange-rates': () => ({ data: { rates: { BRL: '5.42' } } }),
    '/api/v3/simple/price': () => ({ 'usd-coin': { brl: 5.42, last_updated_at: Math.floor(Date.now() / 1000) } }),
    '/v1/traces': () => ({}),
  }
  const { url, stop } = await startHttpServer((request, response) => {
    request.resume()
    const answer = answers[new URL(request.url ?? '', 'http://sources').pathname]
    response.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer?.() ?? {}))
  })
  return { host: new URL(url).host, stop }
}

/** An identity provider on a port of this machine, whose tokens have the issuer that the rendering names. */
export async function startIdentity(issuer: string) {
  const stateFolder = mkdtempSync(join(tmpdir(), 'ponte-identity-'))
  const options = { host: '127.0.0.1', port: 0, stateFolder, publicClientKey: CLIENT_KEY, issuer, audience: 'authenticated' }
  const provider = createIdentityProvider(options)
  await provider.start?.()
  const host = `127.0.0.1:${provider.port()}`
  return {
    host,
    async token(): Promise<string> {
      const signUp = await fetch(`http://${host}/auth/v1/signup`, {
        method: 'POST',
        headers: { apikey: CLIENT_KEY, 'Content-Type': 'application/json' },
        body: JSON.stringify({ email: `user-${randomBytes(6).toString('hex')}@ponte.example`, password: 'a-password-for-tests' }),
      })
      const { access_token } = (await signUp.json()) as { access_token: string }
      return access_token
    },
    async stop() {
      await provider.stop?.()
      rmSync(stateFolder, { recursive: true, force: true })
    },
  }
}

/** A session that is signed with the secret which the development overlay shares with its identity provider. */
export function signedSession(secret: string, issuer: string): string {
  const seconds = Math.floor(Date.now() / 1000)
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const claims = { iss: issuer, aud: 'authenticated', sub: randomUUID(), iat: seconds, exp: seconds + 600, auth_time: seconds }
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
