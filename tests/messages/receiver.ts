import { text } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'

/** A merchant's server that keeps what each path got. */
export async function startReceiver() {
  const bodies = new Map<string, string[]>()
  const { url, stop } = await startHttpServer(async (req, res) => {
    const name = req.url?.slice(1) ?? ''
    const body = await text(req)
    bodies.set(name, [...(bodies.get(name) ?? []), body])
    res.end()
  })
  return { bodies, url: (name: string) => `${url}/${name}`, stop }
}
