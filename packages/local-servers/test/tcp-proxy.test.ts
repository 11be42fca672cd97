import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { until } from '@ponte/service-kit'
import { type Direction, startTcpProxy } from '../src'

it.each<Direction>(['there', 'back'])(
  'holds the bytes of one direction (%s) and lets the others pass, of new connections too',
  async direction => {
    const heard: string[] = []
    const answers: string[] = []
    const accepted: Socket[] = []
    const target = createServer(socket => {
      accepted.push(socket)
      socket.on('data', chunk => heard.push(String(chunk)))
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const { port } = target.address() as AddressInfo
    const line = await startTcpProxy(() => [`tcp://127.0.0.1:${port}`])
    const dial = async () => {
      const count = accepted.length
      const client = connect(Number(new URL(line.url).port), '127.0.0.1')
      client.on('data', chunk => answers.push(String(chunk)))
      await until(() => accepted.length > count, 'the target is not reached')
      return { client, far: accepted[count] }
    }
    const talk = ({ client, far }: Awaited<ReturnType<typeof dial>>, name: string) => {
      client.write(name)
      far?.write(name)
    }
    const [passing, held] = direction === 'there' ? [answers, heard] : [heard, answers]
    const before = await dial()
    line.stall(true, direction)
    const after = await dial()
    talk(before, 'before')
    talk(after, 'after')
    await until(() => passing.length === 2, 'the other direction is held too')
    expect(held).toEqual([])
    line.stall(false)
    await until(() => held.length === 2, 'what was held does not come')
    expect([...held].sort()).toEqual(['after', 'before'])
    await line.stop()
    for (const socket of accepted) socket.destroy()
    target.close()
  },
)
