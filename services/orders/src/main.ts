import { runService } from '@ponte/service-kit'
import { createOrders, ordersConfig, ordersMigrations } from './index'

runService(process, { name: 'orders', settings: ordersConfig, migrations: ordersMigrations, create: createOrders })
