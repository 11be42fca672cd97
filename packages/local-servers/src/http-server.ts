import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HttpServer {
  url: string
  /** Destroys every connection; new ones are taken. */
  cut(): void
  stop(): Promise<void>
}

/** A server on a free port of loopback. A request whose answer throws loses its connection. */
export async function startHttpServer(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<HttpServer> {
  const server = createServer(async (request, response) => {
    try {
      await answer(request, response)
    } catch {
      response.destroy()
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    cut: () => server.closeAllConnections(),
    async stop() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
