export { expireDue, isOfListener, park } from './expiry'
export { publishIfSettled, publishSettled } from './payouts'
