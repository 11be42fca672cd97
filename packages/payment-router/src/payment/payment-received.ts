import { id } from 'ethers'

/** The first topic of every `PaymentReceived`; the three after it are memo, merchant and payer, the data is merchantShare and fee. */
export const PAYMENT_RECEIVED_TOPIC = id('PaymentReceived(bytes32,address,address,uint256,uint256)')
