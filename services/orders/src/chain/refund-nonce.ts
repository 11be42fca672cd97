import { id } from 'ethers'

/** The EIP-3009 nonce of a refund: bound to its payee and amount, so that the token takes one signature of these terms, and that one once. */
export const refundNonce = (refundId: string, payee: string, units: bigint): string =>
  id(`ponte.refund ${refundId} ${payee.toLowerCase()} ${units}`)
