import { join } from 'node:path'
import { createLogger, migrate, readConfig, run } from '@ponte/service-kit'
import { subscriptionsConfig } from './config'
import { createSubscriptions } from './service'

const migrations = join(__dirname, '../prisma/migrations')

async function main() {
  const config = readConfig(subscriptionsConfig, process.env)
  const logger = createLogger({ service: 'subscriptions', level: config.LOG_LEVEL })
  logger.info('migrated', { applied: await migrate(config.DATABASE_URL, migrations) })
  if (process.argv[2] === 'migrate') return
  await run(createSubscriptions(config, { logger }), logger, { tracesUrl: config.TRACES_URL })
}

main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
