import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'

const tiedProcess = JSON.stringify(join(__dirname, '../src/tied-process.js'))
const node = JSON.stringify(process.execPath)

/** Listens on a free port, prints it, and stays. */
const listener = "require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })"
/** Starts the listener as a child of its own. */
const starter = `require('node:child_process').spawn(${node}, ['-e', ${JSON.stringify(listener)}], { stdio: 'inherit' })`

async function connectionTo(program: string, group: boolean) {
  const script = `require(${tiedProcess}).spawnTied(${node}, ['-e', ${JSON.stringify(program)}], { endSignal: 'KILL', group: ${group} }).stdout.pipe(process.stdout)`
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(parent.stdout, 'data')
  const socket = connect(Number(String(port)), '127.0.0.1')
  await once(socket, 'connect')
  // A process that is killed may reset the connection instead of closing it.
  socket.on('error', () => undefined).resume()
  return { parent, closed: new Promise(resolve => socket.once('close', resolve)) }
}

describe('a tied program', () => {
  it('ends with the process that started it, though that one is killed', async () => {
    const { parent, closed } = await connectionTo(listener, false)
    parent.kill('SIGKILL')
    await closed
  })

  it('takes along what it started, when its group is tied', async () => {
    const { parent, closed } = await connectionTo(starter, true)
    parent.kill('SIGKILL')
    await closed
  })
})
