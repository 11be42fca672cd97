import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { HOSTS } from './hosts'

// A receiver as cheap as can be, so that it is the sender that is measured: it answers each complete request after DELAY_MS.

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const delayMs = Number(process.env.DELAY_MS ?? 0)
let answered = 0

const receive = (socket: Socket) => {
  let text = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (text.length < headEnd + 4 + length) return
    text = ''
    const answer = () => {
      answered += 1
      socket.write(ANSWER)
    }
    if (delayMs > 0) setTimeout(answer, delayMs)
    else answer()
  })
}
const [first, ...others] = HOSTS
const server = createServer(receive).listen(0, first, async () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  await Promise.all(others.map(host => once(createServer(receive).listen(port, host), 'listening')))
  process.send?.(port)
})
process.on('message', () => process.send?.(answered))
process.on('disconnect', () => process.exit())
