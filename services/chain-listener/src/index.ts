import { join } from 'node:path'

export { type ChainListenerConfig, chainListenerConfig, relayerConfig } from './config'
export type { Overrides } from './foundation'
export type { Status } from './scan/status'
export { createChainListener, createRelayer } from './service'

export const chainListenerMigrations = join(__dirname, '../prisma/migrations')
