import { join } from 'node:path'

export { type SubscriptionsConfig, subscriptionsConfig } from './config'
export { createSubscriptions } from './service'

/** Where this service's migrations are. */
export const subscriptionsMigrations = join(__dirname, '../prisma/migrations')
