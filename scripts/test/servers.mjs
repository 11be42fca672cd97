import { setUp } from '../develop/setup.mjs'
import { fail } from '../develop/steps.mjs'
import { localServers } from './with-servers.mjs'

// Keeps the servers up, so that many test runs need not start their own: node scripts/test/servers.mjs
await setUp().catch(fail)
const { env, stop } = await localServers().startTestServers({ durable: false })
for (const [variable, url] of Object.entries(env)) console.log(`export ${variable}='${url}'`)
console.error('Ready. Put these lines into the shell that runs the tests; Ctrl-C here ends the servers.')
const stayUp = setInterval(() => undefined, 60_000)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    clearInterval(stayUp)
    await stop()
  })
}
