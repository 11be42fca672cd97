import { join } from 'node:path'

export { type WebhookDispatcherConfig, webhookDispatcherConfig } from './config'
export { createWebhookDispatcher } from './service'

/** Where this service's migrations are. */
export const webhookDispatcherMigrations = join(__dirname, '../prisma/migrations')
