import { once } from 'node:events'
import { Agent, createServer, request, type Server } from 'node:http'
import { pipeline } from 'node:stream'
import { freePort } from '@ponte/local-servers'

/** Stands before the replicas of one service, as a Kubernetes Service does: each request to the next that is ready. */
export interface Balancer {
  url: string
  ports: Set<number>
  close(): void
}

export async function startBalancer(): Promise<Balancer> {
  const ports = new Set<number>()
  const agent = new Agent({ keepAlive: true })
  // Longer than its clients keep a connection, or one of them would now and then send into a closing one.
  const server: Server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    const [port] = ports
    if (port === undefined) return void res.writeHead(502).end('no replica')
    // To the end of the line.
    ports.delete(port)
    ports.add(port)
    const asked = request({ host: '127.0.0.1', port, agent, method: req.method, path: req.url, headers: req.headers }, answer => {
      if (res.destroyed) return void answer.destroy()
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      // Cuts the client off when the replica ends in the midst of its answer.
      pipeline(answer, res, () => undefined)
    })
    asked.on('error', error => (res.headersSent ? res.destroy() : res.writeHead(502).end(String(error))))
    req.pipe(asked)
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}`,
    ports,
    close() {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
