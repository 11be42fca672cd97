export { payerRoutes } from './payer-routes'
export { createSamplePayer } from './sample-payer'
