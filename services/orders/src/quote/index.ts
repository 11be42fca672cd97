export { httpRateSettings } from './http-rate'
export type { Quote } from './quote'
export { openRates } from './rates'
export { rateSources } from './sources'
