export { payerRoutes } from './payer-routes'
export { createSamplePayer, type SamplePayer } from './sample-payer'
