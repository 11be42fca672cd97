export { refundNonce } from '../chain/refund-nonce'
export * from './refund'
