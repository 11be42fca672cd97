import { join } from 'node:path'

export { type ChainListenerConfig, chainListenerConfig } from './config'
export type { Status } from './scan/status'
export { createChainListener, type Overrides } from './service'

/** Where this service's migrations are. */
export const chainListenerMigrations = join(__dirname, '../prisma/migrations')
