import { text } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'

/** A merchant's server that only notes when the `order.paid` or `subscription.charged` of each order first came; `now` is the clock. */
export async function startNotingReceiver(now: () => number) {
  const notifiedAt = new Map<string, number>()
  const { url, stop } = await startHttpServer(async (req, res) => {
    const body = await text(req)
    const id = /"id":"([0-9a-f-]{36})"/.exec(body)?.[1]
    if (id && /"(order\.paid|subscription\.charged)"/.test(body) && !notifiedAt.has(id)) notifiedAt.set(id, now())
    res.end()
  })
  return { notifiedAt, url: `${url}/`, stop }
}
