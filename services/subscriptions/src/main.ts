import { runService } from '@ponte/service-kit'
import { createSubscriptions, subscriptionsConfig, subscriptionsMigrations } from './index'

runService(process, {
  name: 'subscriptions',
  settings: subscriptionsConfig,
  migrations: subscriptionsMigrations,
  create: createSubscriptions,
})
