export { DeliveriesPage } from './deliveries-page'
export { DeliveryBadge } from './delivery-badge'
export { DeliveryPage } from './delivery-page'
