import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A merchant's server that only notes when the `order.paid` or `subscription.charged` of each order first came; `now` is the clock. */
export async function startNotingReceiver(now: () => number) {
  const notifiedAt = new Map<string, number>()
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', chunk => {
      body += chunk
    })
    req.on('end', () => {
      const id = /"id":"([0-9a-f-]{36})"/.exec(body)?.[1]
      if (id && /"(order\.paid|subscription\.charged)"/.test(body) && !notifiedAt.has(id)) notifiedAt.set(id, now())
      res.end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    notifiedAt,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
