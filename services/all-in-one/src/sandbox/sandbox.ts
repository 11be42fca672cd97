import { createApp, httpServer, service } from '@ponte/service-kit'
import { type SandboxOptions, sandboxRoutes } from './routes'

/** Owner of the operations of deployments for tests: payers, networks and the clock, as acts on the chain of a developer's machine. */
export function createSandbox(options: SandboxOptions) {
  const app = createApp({ routes: sandboxRoutes(options), logger: options.logger })
  const http = httpServer('http', app, { host: '127.0.0.1', port: 0 })
  return { ...service('sandbox', [options.payer.part, options.clock.part, http]), http }
}
