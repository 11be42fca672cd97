import { randomBytes, randomInt } from 'node:crypto'
import type { ChainClient } from '../rpc/chain-client'
import type { Intent } from './line/nonce-line'

/** A block's time lies at most so far behind the one before it. */
const AHEAD_S = 12

/**
 * Runs an intent as its transaction would run: by its sender, within its cap of gas, at the price of gas now, in a block whose producer,
 * randomness and time look like any other's. A contract that behaves otherwise in a rehearsal has little to know it by. Throws RevertError.
 */
export async function rehearse(chain: ChainClient, sender: string, { target: to, data, gasMax }: Intent): Promise<void> {
  const { baseFee, tip, time } = await chain.market()
  const context = {
    producer: `0x${randomBytes(20).toString('hex')}`,
    randomness: `0x${randomBytes(32).toString('hex')}`,
    time: time + randomInt(1, AHEAD_S),
  }
  await chain.rehearse({ from: sender, to, data, gas: gasMax, maxPrice: baseFee * 2n + tip, tip }, context)
}
