export type { Budgets } from './budget'
export { createNonceLine, type Intent, type NonceLine, type Prepared, type Submission } from './nonce-line'
export { shareOf } from './price'
