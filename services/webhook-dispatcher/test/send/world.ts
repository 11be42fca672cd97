import { createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import tls from 'node:tls'

/** A receiver below HTTP: it is given each complete request and writes to the socket what it likes. */
export async function startRawReceiver(answer: (socket: Socket, nth: number) => void, secure?: { key: string; cert: string }) {
  let requests = 0
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const match = /content-length: (\d+)[\s\S]*?\r\n\r\n/i.exec(text)
      if (!match || text.length < text.indexOf('\r\n\r\n') + 4 + Number(match[1])) return
      text = ''
      requests += 1
      answer(socket, requests)
    })
  }
  const server = secure ? tls.createServer(secure, serve) : createServer(serve)
  server.on('tlsClientError', () => undefined)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const port = (server.address() as AddressInfo).port
  return {
    port,
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/`,
    requests: () => requests,
    open: () => sockets.size,
    stop: () =>
      new Promise<void>(resolve => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** Counts connections, whatever they want. */
export async function startCanary() {
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '::', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    stop: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

type Records = readonly { type: 'A' | 'AAAA'; address: string }[]

/** A DNS server: `zone` names what a name has the n-th time it is asked (A and AAAA count apart); null never answers. Time to live is 0. */
export async function startDns(zone: (name: string, nth: number) => Records | null) {
  const asked = new Map<string, number>()
  const server = createSocket('udp4')
  server.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.').toLowerCase()
    const nth = (asked.get(`${name} ${type}`) ?? 0) + 1
    asked.set(`${name} ${type}`, nth)
    const records = zone(name, nth)
    if (!records) return
    const answers = records.filter(record => (record.type === 'A' ? 1 : 28) === type)
    const header = Buffer.from([
      query[0] ?? 0,
      query[1] ?? 0,
      0x81,
      records.length === 0 ? 0x83 : 0x80,
      0,
      1,
      0,
      answers.length,
      0,
      0,
      0,
      0,
    ])
    const rows = answers.map(({ address }) => {
      const bytes = type === 1 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
      return Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]), bytes])
    })
    server.send(Buffer.concat([header, query.subarray(12, at + 5), ...rows]), from.port, from.address)
  })
  await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${server.address().port}`,
    asked: (name: string) => Math.max(asked.get(`${name} 1`) ?? 0, asked.get(`${name} 28`) ?? 0),
    stop: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

/** Full form only: eight groups. */
const ipv6Bytes = (address: string) =>
  Buffer.from(address.split(':').flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]))
