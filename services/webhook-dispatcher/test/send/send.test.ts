import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { parseRange } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { createResolver } from '../../src/send/resolver'
import { createSender, type Sender } from '../../src/send/sender'
import { KINDS, type Kind } from '../endpoints/kinds'
import { startReceiver } from '../setup'
import { SHOP_CERTIFICATE, SHOP_KEY } from './certificate'
import { alike, headersOf } from './headers'
import { startDns, startRawReceiver } from './world'

/** Where the deadline is not what is tested, a busy machine must not meet it. */
const PATIENT_MS = 10_000
const DEADLINE_MS = 1_000
/** Slack for a busy machine. */
const SLACK_MS = 1_000
const allowed = [parseRange('127.0.0.1/32')].flatMap(range => range ?? [])
const body = Buffer.from('{"type":"order.expired","data":{}}')

const senders: Sender[] = []
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(senders.splice(0).map(sender => sender.stop()))
  await Promise.all(stops.splice(0).map(stop => stop()))
})

function newSender(options: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const sender = createSender({ resolve: createResolver(), allowed, deadlineMs: PATIENT_MS, idleMs: 200, ...options })
  senders.push(sender)
  return sender
}
async function raw(answer: (socket: Socket, nth: number) => void, secure?: { key: string; cert: string }) {
  const receiver = await startRawReceiver(answer, secure)
  stops.push(receiver.stop)
  return receiver
}
/** To each kind of endpoint, with a receiver of its own. */
const sendTo = (answer: (socket: Socket) => void) =>
  alike(
    async kind => sendOnce((await raw(answer)).url, kind),
    result => result.outcome,
  )
const sendOnce = (url: string, kind: Kind) => newSender().send({ url, body, headers: headersOf(kind, body) })
/** To each kind of endpoint at this URL, at once. */
const sendAll = (url: string | (() => Promise<string>), sender = newSender()) =>
  alike(
    async kind => sender.send({ url: typeof url === 'string' ? url : await url(), body, headers: headersOf(kind, body) }),
    result => result.outcome,
  )

/** Writes a piece again and again until the other side has had enough. */
function drip(socket: Socket, piece: string, first = '') {
  socket.write(first)
  const timer = setInterval(() => socket.write(piece), 20)
  socket.on('close', () => clearInterval(timer))
}
/** Writes without end, as fast as the other side reads. */
function flood(socket: Socket, piece: Buffer) {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}
/** Of the kinds by turns. */
const nthHeaders = (n: number) => headersOf(KINDS[n % KINDS.length] ?? 'webhook_url', body)
const head = (status: string, ...headers: string[]) => [`HTTP/1.1 ${status}`, ...headers, '', ''].join('\r\n')

describe('success is any 2xx, decided by the status line', () => {
  it.each(['200 OK', '201 Created', '202 Accepted', '204 No Content', '226 IM Used', '299 Strange'])('%s', async status => {
    const { outcome } = await sendTo(socket => socket.end(head(status, 'Connection: close')))
    expect(outcome).toEqual({ kind: 'delivered', status: Number(status.slice(0, 3)) })
  })

  it.each([
    ['drips its body for ever', (socket: Socket) => drip(socket, 'x')],
    ['never ends its body', () => undefined],
    ['resets the connection', (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 20)],
    ['sends less than it announced', (socket: Socket) => void socket.end('x')],
    ['floods', (socket: Socket) => flood(socket, Buffer.alloc(65_536, 'x'))],
  ])('a receiver that answers 200 and then %s has taken it, and its connection is closed', async (_name, then) => {
    const receiver = await raw(socket => {
      socket.write(head('200 OK', 'Content-Length: 1000000'))
      then(socket)
    })
    const { outcome, durationMs } = await sendAll(receiver.url)
    expect(outcome).toEqual({ kind: 'delivered', status: 200 })
    expect(durationMs).toBeLessThan(PATIENT_MS)
    await until(() => receiver.open() === 0, 'the connection stays open', 10_000)
  })
})

describe('delivery rule 4: any other status is a failure', () => {
  it.each([
    '300 Multiple Choices',
    '301 Moved',
    '302 Found',
    '304 Not Modified',
    '307 Temporary',
    '400 Bad',
    '401 No',
    '404 Nowhere',
    '410 Gone',
  ])('%s', async status => {
    const { outcome } = await sendTo(socket => socket.end(head(status, 'Connection: close')))
    expect(outcome).toMatchObject({ kind: 'failed', code: 'http_status', status: Number(status.slice(0, 3)) })
  })

  it.each(['429 Slow down', '500 Oh', '502 Bad Gateway', '503 Busy', '599 Odd'])('%s, with Retry-After or without', async status => {
    const { outcome } = await sendTo(socket => socket.end(head(status, 'Connection: close', 'Retry-After: 1')))
    expect(outcome).toMatchObject({ kind: 'failed', code: 'http_status', status: Number(status.slice(0, 3)) })
  })

  it('a redirect is never followed', async () => {
    const target = await startReceiver()
    stops.push(target.stop)
    const { outcome } = await sendTo(socket => socket.end(head('308 Permanent', 'Connection: close', `Location: ${target.url}`)))
    expect(outcome).toMatchObject({ kind: 'failed', status: 308 })
    expect(target.received).toHaveLength(0)
  })

  it.each([
    ['101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'],
    ['100 Continue', 'X: y', 'Z: z'],
  ])('%s that was not asked for is not an answer', async (status, ...headers) => {
    const { outcome, durationMs } = await sendTo(socket => void socket.write(head(status, ...headers)))
    expect(outcome).toEqual({ kind: 'failed', code: 'invalid_response' })
    expect(durationMs).toBeLessThan(PATIENT_MS)
  })

  it.each([
    'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/1.1 20',
    'HTTP/9.9 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ])('what is not HTTP is not an answer: %j', async text => {
    const receiver = await raw(socket => socket.end(text))
    for (const { outcome } of await Promise.all(KINDS.map(kind => sendOnce(receiver.url, kind)))) {
      expect(outcome.kind).toBe('failed')
      expect(['invalid_response', 'connection_reset']).toContain(outcome.kind === 'failed' && outcome.code)
    }
  })

  it('headers without end are cut off', async () => {
    const { outcome } = await sendTo(socket => {
      socket.write('HTTP/1.1 200 OK\r\n')
      flood(socket, Buffer.from(`X-Filler: ${'x'.repeat(1_000)}\r\n`))
    })
    expect(outcome).toEqual({ kind: 'failed', code: 'invalid_response' })
  })
})

describe('delivery rule 5: an attempt ends at its deadline, in wall time', () => {
  it.each([
    ['never answers', () => undefined],
    ['drips its headers', (socket: Socket) => drip(socket, 'x', 'HTTP/1.1 200 OK\r\nX: ')],
    ['drips its status line', (socket: Socket) => drip(socket, 'x', 'HTTP/1.1 200 ')],
    ['sends 103 without end', (socket: Socket) => drip(socket, head('103 Early Hints', 'Link: </x>'))],
    ['sends 102 without end', (socket: Socket) => drip(socket, head('102 Processing'))],
  ])('when the receiver %s', async (_name, answer) => {
    const receiver = await raw(answer)
    const { outcome, durationMs } = await sendAll(receiver.url, newSender({ deadlineMs: DEADLINE_MS }))
    expect(outcome).toEqual({ kind: 'failed', code: 'timeout' })
    expect(durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
    expect(durationMs).toBeLessThan(DEADLINE_MS + SLACK_MS)
    await until(() => receiver.open() === 0, 'the connection stays open', 10_000)
  })

  it('when the name server never answers', async () => {
    const dns = await startDns(() => null)
    stops.push(dns.stop)
    const sender = newSender({ resolve: createResolver({ servers: [dns.server] }), deadlineMs: DEADLINE_MS })
    const { outcome, durationMs } = await sendAll('http://shop.example/', sender)
    expect(outcome).toEqual({ kind: 'failed', code: 'timeout' })
    expect(durationMs).toBeLessThan(DEADLINE_MS + SLACK_MS)
  })

  it('a late connection carries no request that no caller waits for', async () => {
    const receiver = await raw(() => undefined)
    // By a name, so that all deadlines are set before the first connection is made; a later one would have time for a request.
    const sender = newSender({ deadlineMs: 100, resolve: async () => ['127.0.0.1'] })
    const url = `http://shop.example:${receiver.port}/`
    // More than a host has connections, so that some never leave the queue.
    const each = Array.from({ length: 200 }, (_, n) => nthHeaders(n))
    const sent = await Promise.all(each.map(headers => sender.send({ url, body, headers })))
    expect(new Set(sent.map(({ outcome }) => outcome.kind === 'failed' && outcome.code))).toEqual(new Set(['timeout']))
    await until(() => receiver.open() === 0, 'connections stay open', 10_000)
    // A host has 128 connections. One that is freed by the first deadline may carry a request whose own ends a moment later, and never all that wait.
    expect(receiver.requests()).toBeLessThan(each.length)
  })
})

describe('an answer is read to a bound', () => {
  it.each([
    ['10 MB', (socket: Socket) => void socket.end(Buffer.alloc(10_000_000, 'x'))],
    ['an endless body', (socket: Socket) => flood(socket, Buffer.alloc(65_536, 'x'))],
    ['an endless gzip bomb', (socket: Socket) => flood(socket, gzipSync(Buffer.alloc(1_000_000)))],
  ])('of %s at most 16 KiB and what was on its way, and memory stays flat', async (_name, answer) => {
    // One kind after the other: the memory of this process is what is measured.
    for (const kind of KINDS) {
      let written = 0
      const receiver = await raw(socket => {
        socket.write(head('500 Oh', 'Connection: close'))
        answer(socket)
        socket.on('close', () => {
          written = socket.bytesWritten
        })
      })
      const before = process.memoryUsage().rss
      const { outcome } = await sendOnce(receiver.url, kind)
      expect(outcome).toMatchObject({ kind: 'failed', status: 500 })
      await until(() => receiver.open() === 0, 'the connection stays open', 10_000)
      // Kernel buffers on both sides of the loopback hold some megabytes.
      expect(written).toBeLessThan(20_000_000)
      expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000)
    }
  })

  it('a compressed one is not unpacked, and not quoted', async () => {
    const packed = gzipSync('not for you')
    const { outcome } = await sendTo(socket => {
      socket.write(head('500 Oh', 'Content-Encoding: gzip', `Content-Length: ${packed.length}`))
      socket.write(packed)
    })
    expect(outcome).toEqual({ kind: 'failed', code: 'http_status', status: 500 })
  })

  it.each([
    ['NUL', Buffer.from('a\0b'), 'a b'],
    ['broken UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28]), 'a ('],
    ['a cut surrogate and control characters', Buffer.from('\u001b[31mred\u202e\u2028'), '[31mred'],
    ['white space only', Buffer.from(' \n\t '), undefined],
    ['Portuguese', Buffer.from('não há pão'), 'não há pão'],
    ['a long text, cut within a character', Buffer.concat([Buffer.alloc(299, 'x'), Buffer.from('😀😀')]), 'x'.repeat(299)],
  ])('text kept from it is harmless: %s', async (_name, said, snippet) => {
    const { outcome } = await sendTo(socket => {
      socket.write(head('500 Oh', `Content-Length: ${said.length}`))
      socket.write(said)
    })
    expect(outcome).toEqual({ kind: 'failed', code: 'http_status', status: 500, ...(snippet ? { snippet } : {}) })
  })

  it('noise of any bytes never breaks the sender', async () => {
    const sender = newSender()
    const receiver = await raw(socket => socket.end(randomBytes(2_000)))
    for (let n = 0; n < 21; n += 1)
      expect((await sender.send({ url: receiver.url, body, headers: nthHeaders(n) })).outcome.kind).toBe('failed')
  })
})

describe('connections', () => {
  it('are kept and used again', async () => {
    const used = new Set<Socket>()
    const receiver = await raw(socket => {
      used.add(socket)
      socket.write(head('200 OK', 'Content-Length: 0'))
    })
    const sender = newSender({ idleMs: PATIENT_MS })
    for (let n = 0; n < 6; n += 1) {
      await sender.send({ url: receiver.url, body, headers: nthHeaders(n) })
      await nextTurn()
    }
    expect([receiver.requests(), used.size]).toEqual([6, 1])
  })

  it.each([
    ['refused', 'connection_refused', async () => (await startRawReceiverThatIsGone()).url],
    ['reset in the middle', 'connection_reset', async () => (await raw(socket => socket.resetAndDestroy())).url],
    ['closed without a word', 'connection_reset', async () => (await raw(socket => socket.destroy())).url],
  ])('%s: %s', async (_name, code, url) => {
    expect((await sendAll(url)).outcome).toEqual({ kind: 'failed', code })
  })

  it('a proxy from the environment is not used', async () => {
    const proxy = await raw(socket => socket.end(head('200 OK', 'Connection: close')))
    const receiver = await startReceiver()
    stops.push(receiver.stop)
    const saved = { ...process.env }
    Object.assign(process.env, { HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url })
    try {
      expect((await sendAll(receiver.url)).outcome.kind).toBe('delivered')
    } finally {
      process.env = saved
    }
    expect([proxy.requests(), receiver.received.length]).toEqual([0, KINDS.length])
  })
})

async function startRawReceiverThatIsGone() {
  const receiver = await startRawReceiver(() => undefined)
  await receiver.stop()
  return receiver
}

describe.each(KINDS)('a stale keep-alive connection to %s', kind => {
  const ok = head('200 OK', 'Content-Length: 0')
  const headers = headersOf(kind, body)
  const endings: [string, (socket: Socket) => unknown][] = [
    ['reset', socket => socket.resetAndDestroy()],
    ['closed', socket => socket.destroy()],
  ]

  it.each(endings)('%s when it is used again: the same attempt goes once more on a fresh one', async (_name, end) => {
    const used = new Set<Socket>()
    const receiver = await raw(socket => {
      if (used.has(socket)) end(socket)
      else socket.write(ok)
      used.add(socket)
    })
    const sender = newSender({ idleMs: PATIENT_MS })
    for (let n = 0; n < 2; n += 1) {
      expect((await sender.send({ url: receiver.url, body, headers })).outcome).toEqual({ kind: 'delivered', status: 200 })
      await nextTurn()
    }
    expect([receiver.requests(), used.size]).toEqual([3, 2])
  })

  it('costs one more request and no third: a fresh connection that dies too is a failure', async () => {
    let dying = false
    const receiver = await raw(socket => (dying ? socket.resetAndDestroy() : socket.write(ok)))
    const sender = newSender({ idleMs: PATIENT_MS })
    await Promise.all(Array.from({ length: 3 }, () => sender.send({ url: receiver.url, body, headers })))
    await nextTurn()
    dying = true
    const { outcome } = await sender.send({ url: receiver.url, body, headers })
    expect(outcome).toEqual({ kind: 'failed', code: 'connection_reset' })
    expect(receiver.requests()).toBe(5)
  })

  it('after the first byte of an answer it is a failure: the receiver may have acted', async () => {
    const used = new Set<Socket>()
    const receiver = await raw(socket => {
      if (used.has(socket)) socket.end('HTTP/1.1 20')
      else socket.write(ok)
      used.add(socket)
    })
    const sender = newSender({ idleMs: PATIENT_MS })
    await sender.send({ url: receiver.url, body, headers })
    await nextTurn()
    expect((await sender.send({ url: receiver.url, body, headers })).outcome.kind).toBe('failed')
    expect(receiver.requests()).toBe(2)
  })

  it('a fresh connection that dies is not tried again', async () => {
    const receiver = await raw(socket => socket.resetAndDestroy())
    expect((await newSender().send({ url: receiver.url, body, headers })).outcome).toEqual({ kind: 'failed', code: 'connection_reset' })
    expect(receiver.requests()).toBe(1)
  })
})

it('a stale keep-alive connection: the attempt goes once more inside the same deadline', async () => {
  const throughStale = async (kind: Kind) => {
    const used = new Set<Socket>()
    const receiver = await raw(socket => {
      if (used.has(socket)) setTimeout(() => socket.destroy(), DEADLINE_MS / 2)
      else if (used.size === 0) socket.write(head('200 OK', 'Content-Length: 0'))
      used.add(socket)
    })
    const sender = newSender({ idleMs: PATIENT_MS, deadlineMs: DEADLINE_MS })
    await sender.send({ url: receiver.url, body, headers: headersOf(kind, body) })
    await nextTurn()
    return sender.send({ url: receiver.url, body, headers: headersOf(kind, body) })
  }
  const { outcome, durationMs } = await alike(throughStale, result => result.outcome)
  expect(outcome).toEqual({ kind: 'failed', code: 'timeout' })
  expect(durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
  expect(durationMs).toBeLessThan(DEADLINE_MS + SLACK_MS)
})

describe('a connection that is never made', () => {
  it('to the only address is bounded by the deadline alone', async () => {
    const receiver = await raw(() => undefined)
    const sender = newSender({ deadlineMs: DEADLINE_MS, connectMs: 50 })
    const { outcome, durationMs } = await sendAll(`https://127.0.0.1:${receiver.port}/`, sender)
    expect(outcome).toEqual({ kind: 'failed', code: 'timeout' })
    expect(durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
    await until(() => receiver.open() === 0, 'the connection stays open', 10_000)
  })

  it('to one of several addresses leaves time for the next', async () => {
    const secure = { key: SHOP_KEY, cert: SHOP_CERTIFICATE }
    const receiver = await raw(socket => void socket.end(head('200 OK', 'Connection: close')), secure)
    // It takes the connection at 127.0.0.3 and never answers the handshake.
    const sockets = new Set<Socket>()
    const silent = createServer(socket => sockets.add(socket.on('error', () => socket.destroy()).resume())).listen(
      receiver.port,
      '127.0.0.3',
    )
    await once(silent, 'listening')
    stops.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => silent.close(resolve))
    })
    const sender = newSender({
      resolve: async () => ['127.0.0.3', '127.0.0.1'],
      allowed: ['127.0.0.1/32', '127.0.0.3/32'].flatMap(text => parseRange(text) ?? []),
      ca: SHOP_CERTIFICATE,
      connectMs: 100,
    })
    const { outcome } = await sendAll(`https://shop.example:${receiver.port}/`, sender)
    expect(outcome).toEqual({ kind: 'delivered', status: 200 })
  })
})

describe('TLS', () => {
  const secure = { key: SHOP_KEY, cert: SHOP_CERTIFICATE }
  const ok = (socket: Socket) => void socket.end(head('200 OK', 'Connection: close'))

  async function named(name: string, ca?: string) {
    const receiver = await raw(ok, secure)
    const dns = await startDns(() => [{ type: 'A', address: '127.0.0.1' }])
    stops.push(dns.stop)
    const sender = newSender({ resolve: createResolver({ servers: [dns.server] }), ...(ca ? { ca } : {}) })
    const { outcome } = await sendAll(`https://${name}:${receiver.port}/`, sender)
    return { outcome, requests: receiver.requests() }
  }

  it('proves the host name of the URL, although the connection goes to the vetted address', async () => {
    expect(await named('shop.example', SHOP_CERTIFICATE)).toEqual({ outcome: { kind: 'delivered', status: 200 }, requests: KINDS.length })
  })

  it.each([
    ['a certificate of no authority', 'shop.example', undefined],
    ["another name's certificate", 'other.example', SHOP_CERTIFICATE],
  ])('fails on %s, and nothing is sent', async (_name, host, ca) => {
    expect(await named(host, ca)).toEqual({ outcome: { kind: 'failed', code: 'tls_error' }, requests: 0 })
  })

  it('cannot be switched off by the environment', async () => {
    const saved = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect((await named('shop.example')).outcome).toEqual({ kind: 'failed', code: 'tls_error' })
    } finally {
      if (saved === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = saved
    }
  })

  it('against a receiver that speaks plain HTTP fails', async () => {
    // As such servers do, it refuses the handshake as a bad request.
    const plain = createServer(socket => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(head('400 Bad Request', 'Connection: close')))
    }).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    stops.push(() => new Promise(resolve => plain.close(() => resolve())))
    const { outcome } = await sendAll(`https://127.0.0.1:${(plain.address() as AddressInfo).port}/`)
    expect(outcome).toEqual({ kind: 'failed', code: 'tls_error' })
  })
})

describe('several addresses', () => {
  it('an unreachable one is left for the next, and each is used only after all were vetted', async () => {
    const receiver = await startReceiver()
    stops.push(receiver.stop)
    const port = new URL(receiver.url).port
    const open = ['127.0.0.1/32', '127.0.0.3/32'].flatMap(text => parseRange(text) ?? [])
    const sender = newSender({ resolve: async () => ['127.0.0.3', '127.0.0.1'], allowed: open })
    const { outcome } = await sendAll(`http://shop.example:${port}/`, sender)
    expect(outcome).toEqual({ kind: 'delivered', status: 200 })
  })
})
