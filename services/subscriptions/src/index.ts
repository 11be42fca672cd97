import { join } from 'node:path'

export { type SubscriptionsConfig, subscriptionsConfig } from './config'
export { createSubscriptions } from './service'
/** The pure rules of a subscription, for simulations that play years of them without a database. */
export * as subscriptionRules from './subscription'

export const subscriptionsMigrations = join(__dirname, '../prisma/migrations')
