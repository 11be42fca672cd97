import type { CreateRefund, CreateRefundClaim, Refund, RefundClaim, RefundList, SignRefund } from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation } from './call.js'

/** Money that goes back from your wallet. */
export interface Refunds {
  /** Asks for a refund of an order: an amount, the surplus, or all that may still go back. Sign `typed_data` with your wallet. */
  create(orderId: string, body: CreateRefund, options?: WriteOptions): Promise<Refund>
  /** Lists the refunds of an order, with what may still go back. */
  list(orderId: string, options?: RequestOptions): Promise<RefundList>
  /** Reads a refund with what your wallet has to sign. */
  get(id: string, options?: RequestOptions): Promise<Refund>
  /** Brings the signature of your wallet; from then on the money may move at any moment. */
  sign(id: string, body: SignRefund, options?: WriteOptions): Promise<Refund>
  /** Cancels a refund for which nothing that was signed may still move the money. */
  cancel(id: string, options?: WriteOptions): Promise<Refund>
  /**
   * Makes a link by which the payer names the address that money goes back to. Send its `url` to the payer alone. With `email`, they also need a code that
   * is mailed there.
   */
  createClaim(orderId: string, body: CreateRefundClaim, options?: WriteOptions): Promise<RefundClaim>
  /** Reads a claim, with its link while that takes an address. */
  getClaim(id: string, options?: RequestOptions): Promise<RefundClaim>
  /** Ends the link of a claim that has taken no address. */
  cancelClaim(id: string, options?: WriteOptions): Promise<RefundClaim>
}

export const createRefunds = (send: Transport): Refunds => ({
  create: (id, body, options) => callOperation(send, 'createRefund', { params: { id }, body, ...options }),
  list: (id, options) => callOperation(send, 'listRefunds', { params: { id }, ...options }),
  get: (id, options) => callOperation(send, 'getRefund', { params: { id }, ...options }),
  sign: (id, body, options) => callOperation(send, 'signRefund', { params: { id }, body, ...options }),
  cancel: (id, options) => callOperation(send, 'cancelRefund', { params: { id }, ...options }),
  createClaim: (id, body, options) => callOperation(send, 'createRefundClaim', { params: { id }, body, ...options }),
  getClaim: (id, options) => callOperation(send, 'getRefundClaim', { params: { id }, ...options }),
  cancelClaim: (id, options) => callOperation(send, 'cancelRefundClaim', { params: { id }, ...options }),
})
