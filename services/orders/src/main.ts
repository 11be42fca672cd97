import { join } from 'node:path'
import { createLogger, migrate, readConfig, run } from '@ponte/service-kit'
import { ordersConfig } from './config'
import { createOrders } from './service'

const migrations = join(__dirname, '../prisma/migrations')

async function main() {
  const config = readConfig(ordersConfig, process.env)
  const logger = createLogger({ service: 'orders', level: config.LOG_LEVEL })
  logger.info('migrated', { applied: await migrate(config.DATABASE_URL, migrations) })
  if (process.argv[2] === 'migrate') return
  await run(createOrders(config, { logger }), logger, { tracesUrl: config.TRACES_URL, lameDuckMs: config.LAME_DUCK_MS })
}

main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
