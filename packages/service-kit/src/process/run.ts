import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../observe/logger'
import { startTracing } from '../observe/trace'
import type { Service } from './service'
import { startWatchdog } from './watchdog'

const STOP_DEADLINE_MS = 25_000

/**
 * Runs a service until SIGINT or SIGTERM, then retires it for `lameDuckMs`, in which callers find another replica, stops it in order and lets the
 * process end by itself.
 * Spans go to `tracesUrl` where there is one. A failure at start, or a stop that takes over 25 s, ends the process with status 1: the orchestrator restarts it, the state is in PostgreSQL.
 */
export async function run(
  service: Service,
  logger: Logger,
  options: { tracesUrl?: string | undefined; lameDuckMs?: number; stuckAfterS?: number } = {},
): Promise<void> {
  const endWatch = startWatchdog({ stuckAfterS: options.stuckAfterS ?? 0, service: service.name })
  const tracing = await startTracing({ service: service.name, url: options.tracesUrl })
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    logger.info('stopping', { signal })
    setTimeout(() => {
      logger.error('the stop took too long')
      process.exit(1)
    }, STOP_DEADLINE_MS).unref()
    service.retire()
    await pause(options.lameDuckMs ?? 0)
    await service.stop()
    await tracing.stop?.()
    endWatch()
    logger.info('stopped')
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      stop(signal).catch(error => fail(logger, error))
    })
  }
  process.on('unhandledRejection', error => fail(logger, error))
  try {
    await service.start()
    if (!stopping) logger.info('started')
  } catch (error) {
    fail(logger, error)
  }
}

function fail(logger: Logger, error: unknown): never {
  logger.error('the process ends', { error })
  process.exit(1)
}
