import { runService } from '@ponte/service-kit'
import { createWebhookDispatcher, webhookDispatcherConfig, webhookDispatcherMigrations } from './index'

runService(process, {
  name: 'webhook-dispatcher',
  settings: webhookDispatcherConfig,
  migrations: webhookDispatcherMigrations,
  create: createWebhookDispatcher,
})
