import express, { type Router } from 'express'
import type { z } from 'zod'
import type { Bus, DeadLetters, Topology } from './bus/bus'
import { rabbitmqBus } from './bus/rabbitmq-bus'
import type { commonSettings } from './config'
import { type DatabaseOptions, openDatabase } from './database/database'
import { deadLetterRoutes } from './http/operators/dead-letters'
import { republishRoutes } from './http/operators/republish'
import { opsServer } from './http/ops'
import type { HttpServer } from './http/server'
import { createLogger, type Logger } from './observe/logger'
import { createMetrics } from './observe/metrics'
import { type Part, type Service, service } from './process/service'

/** Handed in by all-in-one or a test, and started and stopped by its owner. */
export interface Overrides {
  bus?: Bus | undefined
  now?: (() => Date) | undefined
  logger?: Logger | undefined
}

export interface ServicePartsOptions {
  topology: Topology
  /** Read by it; the operators see what was parked from them. */
  queues: readonly string[]
  overrides?: Overrides
  /** Of all its series of metrics. */
  labels?: Readonly<Record<string, string>>
  /** Settings of PostgreSQL for this service's connections. */
  database?: Pick<DatabaseOptions, 'settings'>
}

/** Common to every service: logger, clock, metrics, database and bus, and the list of parts that they begin. */
export function serviceParts(
  name: string,
  config: z.infer<z.ZodObject<typeof commonSettings>>,
  { topology, queues, overrides = {}, labels, database: settings }: ServicePartsOptions,
) {
  const logger = overrides.logger ?? createLogger({ service: name, level: config.LOG_LEVEL })
  const metrics = createMetrics(name, labels)
  const database = openDatabase({ ...settings, url: config.DATABASE_URL, poolSize: config.DATABASE_POOL, applicationName: name })
  const bus = overrides.bus ?? rabbitmqBus({ url: config.AMQP_URL, namespace: config.AMQP_NAMESPACE, topology, logger })
  const operators = (routes: Router | undefined): Router => {
    const router = express.Router().use(republishRoutes(database), deadLetterRoutes(deadLettersOf(bus, queues)))
    return routes ? router.use(routes) : router
  }
  return {
    logger,
    metrics,
    database,
    bus,
    now: overrides.now ?? (() => new Date()),

    /** Starts database, bus and the given parts, then the operators' port, then HTTP and what is `last`; stops them in reverse. */
    assemble<Http extends HttpServer | undefined>(given: {
      parts: readonly Part[]
      http: Http
      last?: readonly Part[]
      operators?: Router
    }) {
      const ops: HttpServer = opsServer({
        host: config.HOST,
        port: config.OPS_PORT,
        metrics,
        parts: () => parts,
        logger,
        routes: operators(given.operators),
      })
      const parts: Part[] = [
        database,
        ...(overrides.bus ? [] : [bus]),
        ...given.parts,
        ops,
        ...(given.http ? [given.http] : []),
        ...(given.last ?? []),
      ]
      const assembled: Service = service(name, parts)
      return { ...assembled, http: given.http, ops }
    },
  }
}

function deadLettersOf(bus: Bus, queues: readonly string[]): DeadLetters {
  const all = queues.map(queue => bus.deadLetters(queue))
  const sum = async (counts: Promise<number>[]) => (await Promise.all(counts)).reduce((total, count) => total + count, 0)
  return {
    count: () => sum(all.map(letters => letters.count())),
    list: async limit => (await Promise.all(all.map(letters => letters.list(limit)))).flat().slice(0, limit),
    retry: ids => sum(all.map(letters => letters.retry(ids))),
    discard: ids => sum(all.map(letters => letters.discard(ids))),
  }
}
