import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startHttpServer } from '@ponte/local-servers'

/** A merchant's server may answer so although it has taken the webhook. */
export const misbehaviours = {
  fails: res => res.writeHead(500).end('out of order'),
  'is away': res => res.writeHead(503, { 'retry-after': '1' }).end(),
  'sends elsewhere': res => res.writeHead(307, { location: '/webhooks' }).end(),
  hangs: () => undefined,
  'hangs up': res => res.destroy(),
  'answers nonsense': res => res.socket?.end('HTTP/9.9 fine\r\n\r\n'),
  'promises an answer': res => {
    res.writeProcessing()
  },
  'refuses for ever': res => {
    res.writeHead(400, { 'content-type': 'text/plain' })
    const drip = () => {
      if (res.destroyed) return
      res.write('no '.repeat(10_000))
      setTimeout(drip, 50)
    }
    drip()
  },
} satisfies Record<string, (res: ServerResponse) => unknown>
export type Misbehaviour = keyof typeof misbehaviours

export interface Receiver {
  url: string
  /** Bodies that came with a valid signature, whatever was answered. */
  taken: ReadonlySet<string>
  counts: { received: number; forged: number }
  trust(secret: string): void
  misbehave(how: Misbehaviour | null): void
  stop(): Promise<void>
}

/** A merchant's server that checks signatures as the specification states, keeps every body, and misbehaves on request. */
export async function startReceiver(): Promise<Receiver> {
  const taken = new Set<string>()
  const counts = { received: 0, forged: 0 }
  let secret = ''
  let how: Misbehaviour | null = null
  const server = await startHttpServer(async (req, res) => {
    const body = await buffer(req)
    counts.received += 1
    if (!isSigned(body, req.headers['x-service-signature'], secret)) {
      counts.forged += 1
      return void res.writeHead(401).end()
    }
    taken.add(body.toString('utf8'))
    if (how === null) res.writeHead(200).end()
    else misbehaviours[how](res)
  })
  return {
    url: `${server.url}/webhooks`,
    taken,
    counts,
    trust(next) {
      secret = next
    },
    misbehave(next) {
      how = next
      // A client that still waits for an answer gets none.
      if (next === null) server.cut()
    },
    stop: server.stop,
  }
}

function isSigned(body: Buffer, header: string | string[] | undefined, secret: string): boolean {
  const wanted = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
  const given = Buffer.from(String(header))
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
