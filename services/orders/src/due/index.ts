export { expireDue, isOfListener, park } from './expiry'
export { publishSettled } from './payouts'
