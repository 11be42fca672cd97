import { join } from 'node:path'

export { type OrdersConfig, ordersConfig } from './config'
export * as orderRules from './order/rules'
export * as refundRules from './refund'
export { createOrders } from './service'

export const ordersMigrations = join(__dirname, '../prisma/migrations')
