import { connect, createServer, type Socket } from 'node:net'

/** Towards the targets, or back from them. */
export type Direction = 'there' | 'back'

export interface Line {
  port: number
  /** Destroys every connection; new ones are taken. */
  cut(): void
  /** While true, connections are refused. */
  refuse(on: boolean): void
  /** While true, bytes stay where they are: no answer, no end. In one direction alone, the other side is heard or hears. */
  stall(on: boolean, direction?: Direction): void
  /** Each byte comes so much later. */
  delay(ms: number): void
  stop(): Promise<void>
}

/** A TCP proxy on loopback that spreads connections over its targets and can misbehave. */
export async function createProxy(targets: () => readonly { host: string; port: number }[]): Promise<Line> {
  const pairs = new Set<[Socket, Socket]>()
  let turn = 0
  let refusing = false
  let stalled: readonly Direction[] = []
  let delayMs = 0

  const pipe = (from: Socket, to: Socket) => {
    from.on('data', chunk => {
      if (delayMs === 0) return void to.write(chunk)
      setTimeout(() => {
        if (!to.destroyed) to.write(chunk)
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
    const upstream = connect({ ...target, allowHalfOpen: true })
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    client.on('close', () => pairs.delete(pair))
    pipe(client, upstream)
    pipe(upstream, client)
    hold(pair)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')

  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  }
  return {
    port: address.port,
    cut,
    refuse(on) {
      refusing = on
      if (on) cut()
    },
    stall(on, direction) {
      stalled = on ? (direction ? [direction] : ['there', 'back']) : []
      for (const pair of pairs) hold(pair)
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
