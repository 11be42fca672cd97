import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { openDatabase } from '../../src'

/** A message of PostgreSQL's protocol: its type, its length with itself, and its content. */
function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}
const AUTHENTICATED = message('R', Buffer.alloc(4))
const READY = message('Z', Buffer.from('I'))
const ENDED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))

test('a connection that is ended in the packet that opens it fails what it was for, and not the process', async () => {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => void socket.end(Buffer.concat([AUTHENTICATED, READY, ENDED])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const database = openDatabase({ url: `postgresql://ponte@127.0.0.1:${port}/ponte`, poolSize: 1 })
  const work = jest.fn(async () => undefined)
  await expect(database.transaction(work)).rejects.toThrow()
  await expect(database.query('SELECT 1')).rejects.toThrow()
  await expect(database.pool.connect().then(client => client.query('SELECT 1'))).rejects.toThrow()
  expect(work).not.toHaveBeenCalled()
  server.close()
})
