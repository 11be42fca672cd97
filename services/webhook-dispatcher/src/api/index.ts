export { merchantOf, owned, pathId } from './caller'
export { deliveryColumns } from './deliveries-csv'
export { endpointRoutes } from './endpoint-routes'
