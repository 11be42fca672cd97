import { join } from 'node:path'

export { type WebhookDispatcherConfig, webhookDispatcherConfig } from './config'
export { createWebhookDispatcher } from './service'

export const webhookDispatcherMigrations = join(__dirname, '../prisma/migrations')
