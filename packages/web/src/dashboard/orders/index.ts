export { OrderBadge } from './order-badge'
export { OrderPage } from './order-page'
export { OrderTable } from './order-table'
export { OrdersPage } from './orders-page'
