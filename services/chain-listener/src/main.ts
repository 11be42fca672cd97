import { join } from 'node:path'
import { createLogger, migrate, readConfig, run } from '@ponte/service-kit'
import { chainListenerConfig } from './config'
import { createChainListener } from './service'

const migrations = join(__dirname, '../prisma/migrations')

async function main() {
  const config = readConfig(chainListenerConfig, process.env)
  const logger = createLogger({ service: 'chain-listener', level: config.LOG_LEVEL })
  logger.info('migrated', { applied: await migrate(config.DATABASE_URL, migrations) })
  if (process.argv[2] === 'migrate') return
  const onHalt = () => {
    process.exitCode = 1
    process.kill(process.pid, 'SIGTERM')
  }
  await run(createChainListener(config, { logger, onHalt }), logger, { tracesUrl: config.TRACES_URL, lameDuckMs: config.LAME_DUCK_MS })
}

main().catch(error => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
