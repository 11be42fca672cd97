import { connect, createServer, type Server, type Socket } from 'node:net'
import { PassThrough, type Transform } from 'node:stream'

/** A TCP proxy in front of a server, whose connections a test cuts and which it closes and opens. */
export interface CuttableProxy {
  port(): number
  open(): Promise<void>
  /** Ends every connection at once, without a goodbye; `refuse` also refuses new ones until `open`. */
  cut(options?: { refuse: boolean }): Promise<void>
  /** Leaves every connection half open: nothing passes any more, and neither side learns of it. */
  silence(): void
}

/** What the server sends passes through a stream of the connection's own. */
export async function cuttableProxy(
  target: { host: string; port: number },
  fromServer = (): Transform => new PassThrough(),
): Promise<CuttableProxy> {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let boundPort = 0
  const open = () =>
    new Promise<void>((resolve, reject) => {
      server = createServer(inner => {
        const outer = connect(target)
        for (const [socket, other] of [
          [inner, outer],
          [outer, inner],
        ] as const) {
          sockets.add(socket)
          socket.on('error', () => other.destroy())
          socket.on('close', () => {
            sockets.delete(socket)
            other.destroy()
          })
          ;(socket === outer ? socket.pipe(fromServer()) : socket).pipe(other)
        }
      })
      server.once('error', reject)
      server.listen(boundPort, '127.0.0.1', () => {
        const address = server?.address()
        if (typeof address === 'object' && address) boundPort = address.port
        resolve()
      })
    })
  await open()
  return {
    port: () => boundPort,
    open,
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    async cut({ refuse } = { refuse: false }) {
      const closed = refuse ? new Promise(resolve => server?.close(resolve)) : undefined
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
