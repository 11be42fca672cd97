import { createRequire } from 'node:module'

// A durable PostgreSQL and RabbitMQ in a process beside a test: it is sent their addresses, sends what shall crash or start, and is told when that
// is done. They end with their process, and that with its parent.

const require = createRequire(import.meta.url)
require('./register-typescript.cjs')
const { startServers } = require('../tests/torture/servers.ts')

const { postgres, broker, stop } = await startServers()
const servers = { postgres, broker }
process.on('disconnect', stop)
process.on('message', async ({ server, order }) => {
  await servers[server][order]()
  process.send('done')
})
process.send({ databaseUrl: postgres.url(process.argv[2]), amqpUrl: broker.url })
