export {
  activateWebhookSecret,
  type Change,
  createMerchant,
  inForce,
  type Merchant,
  rotateWebhookSecret,
  termsOf,
  updateMerchant,
} from './merchant'
export { merchantBody } from './merchant-body'
export { vetPayoutAddress } from './payable'
