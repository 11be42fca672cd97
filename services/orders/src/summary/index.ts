export { civilDays } from './civil-days'
export { type OrderCounts, type PaidSums, summaryBody } from './summary'
