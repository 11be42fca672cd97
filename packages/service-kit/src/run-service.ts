import type { z } from 'zod'
import { type commonSettings, readConfig } from './config'
import { migrate, requireMigrated } from './database/migrate'
import { createLogger, type Logger } from './observe/logger'
import { run } from './process/run'
import type { Service } from './process/service'

type Settings = z.infer<z.ZodObject<typeof commonSettings>>

export interface Program<Schema extends z.ZodType<Settings>> {
  name: string
  settings: Schema
  migrations: string
  create(config: z.infer<Schema>, given: { logger: Logger }): Service
}

/**
 * A service as a program: reads its settings, sees that its database is migrated, runs until SIGINT or SIGTERM. With the argument `migrate` it
 * only migrates.
 */
export function runService<Schema extends z.ZodType<Settings>>(host: NodeJS.Process, program: Program<Schema>): void {
  start(host, program).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    host.exitCode = 1
  })
}

async function start<Schema extends z.ZodType<Settings>>(host: NodeJS.Process, program: Program<Schema>): Promise<void> {
  const config = readConfig(program.settings, host.env)
  const logger = createLogger({ service: program.name, level: config.LOG_LEVEL })
  const isMigration = host.argv[2] === 'migrate'
  if (isMigration || config.MIGRATE_ON_START) {
    const grantTo = config.MIGRATE_DATABASE_URL && decodeURIComponent(new URL(config.DATABASE_URL).username)
    const applied = await migrate(config.MIGRATE_DATABASE_URL ?? config.DATABASE_URL, program.migrations, { grantTo })
    logger.info('migrated', { applied })
  } else {
    await requireMigrated(config.DATABASE_URL, program.migrations)
  }
  if (isMigration) return
  await run(program.create(config, { logger }), logger, {
    tracesUrl: config.TRACES_URL,
    lameDuckMs: config.LAME_DUCK_MS,
    stuckAfterS: config.STUCK_AFTER_S,
  })
}
