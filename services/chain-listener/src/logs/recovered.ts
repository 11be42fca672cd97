import { id } from 'ethers'
import type { RawLog } from '../rpc/raw-log'
import { topicOf } from './transfer'

export const RECOVERED_TOPIC = id('Recovered(bytes32,address,address,uint256)')

/** A token to be sent on from a deposit address by a router. Addresses are lower-case, the memo is 64 hex. */
export interface RecoveryTerms {
  router: string
  memo: string
  merchant: string
  token: string
}

const WORD = /^0x[0-9a-f]{64}$/i

/** The log by which the router states that it did: no token can write one of its. */
export const isRecovered = ({ address, topics, data }: RawLog, { router, memo, merchant, token }: RecoveryTerms): boolean =>
  address.toLowerCase() === router &&
  topics[0] === RECOVERED_TOPIC &&
  topics[1] === `0x${memo}` &&
  topics[2] === topicOf(merchant) &&
  topics[3] === topicOf(token) &&
  WORD.test(data)
