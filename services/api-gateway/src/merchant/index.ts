export { type Invitation, joined, type Member, permissionsOf, withoutMember, withRole } from './member'
export {
  activatePayoutChange,
  activateWebhookSecret,
  approvePayoutChange,
  atNextVersion,
  type Branding,
  type Change,
  cancelPayoutChange,
  createMerchant,
  inForce,
  type Merchant,
  PLAIN_BRANDING,
  rotateWebhookSecret,
  signPayoutChange,
  termsOf,
  updateBranding,
  updateMerchant,
} from './merchant'
export { merchantBody } from './merchant-body'
export { vetPayoutAddress } from './payable'
export { type PayoutChange, type PayoutGuard, payoutMessage, payoutWithoutUser, waiting } from './payout-change'
export { isSignedBy } from './payout-signature'
