import { chainListenerConfig, createChainListener } from '@ponte/chain-listener'
import { type Bus, readConfig, silentLogger } from '@ponte/service-kit'

/** A bus that takes everything at once: the outbox is published, no one reads it. */
export const swallowing: Bus = {
  name: 'bus',
  publish: async () => undefined,
  accepts: () => true,
  announce: () => undefined,
  consume: queue => ({ name: `${queue} queue` }),
  deadLetters: () => ({ count: async () => 0, list: async () => [], retry: async () => 0, discard: async () => 0 }),
  listen: () => ({ name: 'announcements' }),
}

export const listenerOn = (env: Record<string, string>, bus = swallowing) =>
  createChainListener(
    readConfig(chainListenerConfig, {
      ...{ AMQP_URL: 'amqp://unused', HOST: '127.0.0.1', OPS_PORT: '0', CHAIN_ID: '31337', VERIFY_DEPLOYMENT: 'false' },
      ...{ DEVELOPMENT_CHAIN: 'true', PONTE_MODE: 'development', BLOCK_TIME_AHEAD_MAX_S: '31536000' },
      ...env,
    }),
    { logger: silentLogger, bus },
  )
