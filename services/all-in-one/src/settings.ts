import { integer } from '@ponte/service-kit'
import { z } from 'zod'

/** Settings of embedded mode; every one has a default, so that `npm start` needs none. */
export const embeddedSettings = z.object({
  /** The gateway: API, checkout, dashboard. */
  PONTE_PORT: integer(0, 65_535).default(8080),
  /** The development identity provider. */
  PONTE_AUTH_PORT: integer(0, 65_535).default(8090),
  /** The sample webhook receiver. */
  PONTE_RECEIVER_PORT: integer(0, 65_535).default(8091),
  /** The local chain's JSON-RPC, HTTP and WebSocket. */
  PONTE_CHAIN_PORT: integer(0, 65_535).default(8545),
  /** Networks on which an order may be paid: the second one is a local chain too, on the next port. */
  PONTE_NETWORKS: integer(1, 2).default(1),
  /** The embedded PostgreSQL. */
  PONTE_PG_PORT: integer(0, 65_535).default(54_329),
  /** Where all state lives; `.ponte` in the clone when empty. */
  PONTE_STATE_DIR: z.string().optional(),
  /** Confirmations that the local chain's payments need. */
  PONTE_CONFIRMATIONS: integer(1, 100).default(1),
  /** `test` as a team's own deployment for tests has it, with keys and pages that say so. */
  PONTE_MODE: z.enum(['development', 'test']).default('development'),
  /** Log level of the five services. */
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug']).default('warn'),
})
export type EmbeddedSettings = z.infer<typeof embeddedSettings>
