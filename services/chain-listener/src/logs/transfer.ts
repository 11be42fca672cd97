import { splitFee } from '@ponte/payment-router'
import { id } from 'ethers'
import { MalformedLogError, placeOf, type RawLog, type SeenPayment } from './payment-received'

export const TRANSFER_TOPIC = id('Transfer(address,address,uint256)')

/** A deposit address that is watched, and what a transfer to it pays. Addresses are lower-case. */
export interface Deposit {
  address: string
  memo: string
  merchant: string
  router: string
  /** What the router takes when it sweeps. */
  feeBps: number
}

const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/
const WORD = /^0x[0-9a-f]{64}$/

/** An address as a topic. */
export const topicOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

/** A token's transfer as a payment; undefined when it goes elsewhere or moves nothing. Throws MalformedLogError. */
export function decodeTransfer(log: RawLog, token: string, deposits: ReadonlyMap<string, Deposit>): SeenPayment | undefined {
  const [topic, from, to, ...more] = log.topics
  if (log.address.toLowerCase() !== token || topic !== TRANSFER_TOPIC || from === undefined || to === undefined || more.length > 0)
    throw new MalformedLogError(`the log is not a transfer of ${token}: ${log.address} ${log.topics.join()}`)
  const deposit = deposits.get(`0x${to.slice(26)}`)
  if (!deposit) return undefined
  if (!ADDRESS_WORD.test(from) || !ADDRESS_WORD.test(to) || !WORD.test(log.data))
    throw new MalformedLogError(`the transfer is malformed: ${log.topics.join()} ${log.data.slice(0, 200)}`)
  const amount = BigInt(log.data)
  if (amount === 0n) return undefined
  const { memo, merchant, router, address, feeBps } = deposit
  const { share, fee } = splitFee(amount, feeBps)
  return { router, memo, merchant, payer: `0x${from.slice(26)}`, share, fee, deposit: address, ...placeOf(log) }
}
