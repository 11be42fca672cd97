import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Towards the targets, or back from them. */
export type Direction = 'there' | 'back'

export interface TcpProxy {
  /** Of targets that speak HTTP. */
  url: string
  /** A target's URL with the proxy's address in its place. */
  through(url: string): string
  isConnected(): boolean
  /** Destroys every connection; new ones are taken. */
  cut(): void
  /** While true, there are no connections: new ones are closed at once. */
  refuse(on: boolean): void
  /** While true, bytes stay where they are: no answer, no end. In one direction alone, the other side is heard or hears. */
  stall(on: boolean, direction?: Direction): void
  /** Present connections pass nothing on any more and stay open, as when a machine vanished. */
  freeze(): void
  /** Each byte comes so much later. */
  delay(ms: number): void
  stop(): Promise<void>
}

/** A TCP proxy on loopback that spreads connections over the URLs of its targets and can misbehave. */
export async function startTcpProxy(
  targets: () => readonly string[],
  /** Made for each connection: changes what its target sends. */
  fromTarget: () => (chunk: Buffer) => Buffer = () => chunk => chunk,
): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>()
  let turn = 0
  let refusing = false
  let stalled: readonly Direction[] = []
  let delayMs = 0

  const pass = (from: Socket, to: Socket, change: (chunk: Buffer) => Buffer) => {
    from.on('data', chunk => {
      const changed = change(chunk)
      if (delayMs === 0) return void to.write(changed)
      setTimeout(() => {
        if (!to.destroyed) to.write(changed)
      }, delayMs)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.on('end', () => to.end())
  }
  const hold = ([client, upstream]: readonly [Socket, Socket]) => {
    stalled.includes('there') ? client.pause() : client.resume()
    stalled.includes('back') ? upstream.pause() : upstream.resume()
  }
  const server = createServer({ allowHalfOpen: true }, client => {
    const all = targets()
    const target = all[turn++ % Math.max(all.length, 1)]
    if (refusing || !target) return void client.destroy()
    const { hostname: host, port } = new URL(target)
    const upstream = connect({ host, port: Number(port || AMQP_PORT), allowHalfOpen: true })
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    client.on('close', () => pairs.delete(pair))
    pass(client, upstream, chunk => chunk)
    pass(upstream, client, fromTarget())
    hold(pair)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    through: url => Object.assign(new URL(url), { hostname: '127.0.0.1', port }).href,
    isConnected: () => pairs.size > 0,
    cut,
    refuse(on) {
      refusing = on
      if (on) cut()
    },
    stall(on, direction) {
      stalled = on ? (direction ? [direction] : ['there', 'back']) : []
      for (const pair of pairs) hold(pair)
    },
    freeze() {
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    delay(ms) {
      delayMs = ms
    },
    stop: () =>
      new Promise(resolve => {
        cut()
        server.close(() => resolve())
      }),
  }
}

/** Of a URL that names none: the broker's may. */
const AMQP_PORT = 5_672
