import { join } from 'node:path'

export { type ChainListenerConfig, chainListenerConfig } from './config'
export { createChainListener, type Given } from './service'
export type { Status } from './status'

/** Where this service's migrations are. */
export const chainListenerMigrations = join(__dirname, '../prisma/migrations')
