export { payerRoutes } from './payer-routes'
