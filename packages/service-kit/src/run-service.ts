import type { z } from 'zod'
import { type commonSettings, readConfig } from './config'
import { migrate } from './database'
import { createLogger, type Logger } from './observe'
import { run, type Service } from './process'

type Settings = z.infer<z.ZodObject<typeof commonSettings>>

export interface Program<Schema extends z.ZodType<Settings>> {
  name: string
  settings: Schema
  /** The folder of the service's migrations. */
  migrations: string
  create(config: z.infer<Schema>, context: ProgramContext): Service
}

export interface ProgramContext {
  logger: Logger
  /** Stops the process in order, with status 1: for what no restart of a part can mend. */
  halt(): void
}

/** A service as a program: reads its settings, migrates its database, runs until SIGINT or SIGTERM. With the argument `migrate` it only migrates. */
export function runService<Schema extends z.ZodType<Settings>>(host: NodeJS.Process, program: Program<Schema>): void {
  start(host, program).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    host.exitCode = 1
  })
}

async function start<Schema extends z.ZodType<Settings>>(host: NodeJS.Process, program: Program<Schema>): Promise<void> {
  const config = readConfig(program.settings, host.env)
  const logger = createLogger({ service: program.name, level: config.LOG_LEVEL })
  logger.info('migrated', { applied: await migrate(config.DATABASE_URL, program.migrations) })
  if (host.argv[2] === 'migrate') return
  const halt = () => {
    host.exitCode = 1
    host.kill(host.pid, 'SIGTERM')
  }
  await run(program.create(config, { logger, halt }), logger, { tracesUrl: config.TRACES_URL, lameDuckMs: config.LAME_DUCK_MS })
}
