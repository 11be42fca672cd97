import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createIdentityProvider, type Place, type ServiceName, serviceNames } from '@ponte/all-in-one'
import { freePort } from '@ponte/local-servers'

export const CLIENT_KEY = 'pk_test'

/** Settings of the identity provider: how it treats new addresses, where its mails go, and its clock. */
export type IdentitySettings = Partial<Pick<Parameters<typeof createIdentityProvider>[0], 'confirmsMail' | 'mail' | 'now'>>

/** An identity provider that runs, and free ports and fresh secrets for every service. */
export async function startGround(folder: string, settings: IdentitySettings = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const known = { publicClientKey: CLIENT_KEY, issuer: `${url}/auth/v1`, audience: 'authenticated' }
  const identity = createIdentityProvider({ host: '127.0.0.1', port, stateFolder: join(folder, 'identity'), ...known, ...settings })
  await identity.start?.()
  const ports = Object.fromEntries(await Promise.all(serviceNames.map(async name => [name, await freePort()]))) as Record<
    ServiceName,
    number
  >
  const at = (name: ServiceName) => `http://127.0.0.1:${ports[name]}`
  const secret = () => randomBytes(32).toString('hex')
  const place = {
    ...{ ports, publicUrl: at('api-gateway'), identity: { url, ...known }, webhookAllowCidrs: '127.0.0.1/32' },
    ownerUrls: {
      ...{
        orders: at('orders'),
        subscriptions: at('subscriptions'),
        webhooks: at('webhook-dispatcher'),
        chainListener: at('chain-listener'),
      },
    },
    secrets: {
      ...{ sealKey: secret(), dossierKey: secret(), ordersTokenSecret: secret(), subscriptionsTokenSecret: secret() },
      ...{ webhooksTokenSecret: secret(), chainListenerTokenSecret: secret() },
    },
  } satisfies Partial<Place>
  return { identity, place }
}
