import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A merchant's server that keeps what each path got. */
export async function startReceiver() {
  const bodies = new Map<string, string[]>()
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const name = req.url?.slice(1) ?? ''
      bodies.set(name, [...(bodies.get(name) ?? []), Buffer.concat(chunks).toString()])
      res.end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return {
    bodies,
    url: (name: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
