export interface RawLog {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  blockHash: string
  transactionHash: string
  logIndex: string
}

export interface Place {
  blockNumber: number
  blockHash: string
  txHash: string
  logIndex: number
}

/** A `PaymentReceived` of a router. Addresses are lower-case, amounts in units of 0.000001 USDC. */
export interface RouterLog extends Place {
  router: string
  memo: string
  merchant: string
  payer: string
  share: bigint
  fee: bigint
}

export interface TransferLog extends Place {
  from: string
  to: string
  amount: bigint
}

/** `PaymentReceived(bytes32,address,address,uint256,uint256)` */
export const PAYMENT_TOPIC = '0x02f3d9206e8324bff80077e5b30cb225397f8f786dab7c68cc4e58491eaac44f'
/** `Transfer(address,address,uint256)` */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
export const keyOf = ({ txHash, logIndex }: Pick<Place, 'txHash' | 'logIndex'>): string => `${txHash} ${logIndex}`

const WORDS = /^0x([0-9a-f]{64})+$/
const addressIn = (topic: string) => `0x${topic.slice(-40).toLowerCase()}`

const placeOf = ({ blockNumber, blockHash, transactionHash, logIndex }: RawLog): Place => ({
  blockNumber: Number(blockNumber),
  blockHash: blockHash.toLowerCase(),
  txHash: transactionHash.toLowerCase(),
  logIndex: Number(logIndex),
})

export function toRouterLog(log: RawLog): RouterLog {
  const [topic, memo, merchant, payer] = log.topics
  if (topic !== PAYMENT_TOPIC || !memo || !merchant || !payer || !WORDS.test(log.data) || log.data.length !== 130)
    throw new Error(`The node answered a log that is no PaymentReceived: ${log.transactionHash} ${log.logIndex}`)
  return {
    ...placeOf(log),
    router: log.address.toLowerCase(),
    memo: memo.slice(2).toLowerCase(),
    merchant: addressIn(merchant),
    payer: addressIn(payer),
    share: BigInt(log.data.slice(0, 66)),
    fee: BigInt(`0x${log.data.slice(66)}`),
  }
}

export function toTransferLog(log: RawLog): TransferLog {
  const [topic, from, to] = log.topics
  if (topic !== TRANSFER_TOPIC || !from || !to || !WORDS.test(log.data) || log.data.length !== 66)
    throw new Error(`The node answered a log that is no Transfer: ${log.transactionHash} ${log.logIndex}`)
  return { ...placeOf(log), from: addressIn(from), to: addressIn(to), amount: BigInt(log.data) }
}
