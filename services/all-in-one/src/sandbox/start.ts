import { randomBytes } from 'node:crypto'
import type { LocalChain } from '@ponte/local-servers'
import { createApp, httpServer, type Logger, service } from '@ponte/service-kit'
import type { SamplePayer } from '../payer/sample-payer'
import type { Place } from '../places'
import { type StartOptions, type System, startAll } from '../start-all'
import { createClock } from './clock'
import { movementOf } from './movement'
import { type SandboxOptions, sandboxRoutes } from './routes'

/** Owner of the operations of deployments for tests: payers, networks and the clock, as acts on the chain of a developer's machine. */
function createSandbox(options: SandboxOptions) {
  const app = createApp({ routes: sandboxRoutes(options), logger: options.logger })
  const http = httpServer('http', app, { host: '127.0.0.1', port: 0 })
  return { ...service('sandbox', [options.payer.part, options.clock.part, http]), http }
}

/** The five services, and beside them the sandbox that plays payers, networks and time for them. */
export async function startWithSandbox(
  place: Place,
  {
    chain,
    others = [],
    payer,
    logger,
    ...options
  }: StartOptions & { chain: LocalChain; others?: readonly LocalChain[]; payer: SamplePayer; logger: NonNullable<StartOptions['logger']> },
): Promise<System> {
  const own: Logger = logger('orders')
  const clock = createClock({ chains: [chain, ...others], logger: own })
  await clock.resume()
  const tokenSecret = randomBytes(32).toString('hex')
  let started: System | undefined
  const running = (): System => {
    if (!started) throw new Error('The services have not started.')
    return started
  }
  const sandbox = createSandbox({
    ...{ payer, clock, gatewayUrl: place.publicUrl, tokenSecret, logger: own },
    orders: () => ({ url: running().ordersUrl, tokenSecret: place.secrets.ordersTokenSecret }),
    movement: () => movementOf(running()),
  })
  await sandbox.start()
  try {
    const { settings = {} } = options
    const system = await startAll(place, {
      ...options,
      ...{ logger, now: clock.now, accountsNow: () => new Date() },
      settings: {
        ...settings,
        'api-gateway': {
          ...settings['api-gateway'],
          SANDBOX_URL: `http://127.0.0.1:${sandbox.http.port()}`,
          SANDBOX_TOKEN_SECRET: tokenSecret,
        },
        // Each step of the clock waits for the block that it mines.
        'chain-listener': { ...settings['chain-listener'], ADVANCE_EVERY_MS: '50' },
      },
    })
    started = system
    return {
      ...system,
      async stop() {
        await system.stop()
        await sandbox.stop()
      },
    }
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}
