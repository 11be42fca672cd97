import type { DepositBlocked } from '@ponte/contracts'
import { paymentRouterAbi } from '@ponte/payment-router'
import { Interface } from 'ethers'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import type { Payable } from './store/payables'

const token = new Interface(['function paused() view returns (bool)', 'function isBlacklisted(address) view returns (bool)'])
const router = new Interface(paymentRouterAbi)
const WORD = /^0x[0-9a-f]{64}$/i

/** Merchants whose contract is missing on this chain: a sweep would pay an address that no one may control. */
export async function missingContracts(chain: ChainClient, payables: readonly Payable[]): Promise<Set<string>> {
  const merchants = [...new Set(payables.flatMap(({ merchantIsContract, merchant }) => (merchantIsContract ? [merchant] : [])))]
  const stands = await Promise.all(merchants.map(chain.isContract))
  return new Set(merchants.filter((_, index) => !stands[index]))
}

/** Why something is not swept; null when no reason is found. A token without these functions gives none. */
export function createRefusals(chain: ChainClient, tokenAddress: string) {
  const ask = async (to: string, data: string): Promise<bigint> => {
    try {
      const answer = await chain.call({ to, data })
      return WORD.test(answer) ? BigInt(answer) : 0n
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      return 0n
    }
  }
  const isTrue = async (name: 'paused' | 'isBlacklisted', ...args: string[]) =>
    (await ask(tokenAddress, token.encodeFunctionData(name, args))) === 1n
  const feeReceiverOf = async (target: string) =>
    `0x${(await ask(target, router.encodeFunctionData('feeReceiver'))).toString(16).padStart(40, '0')}`

  return async (payable: Payable): Promise<DepositBlocked['reason']> => {
    const { merchant, router: target } = payable
    if ((await missingContracts(chain, [payable])).size > 0) return 'payout_contract_missing'
    if (await isTrue('paused')) return 'token_paused'
    if (await isTrue('isBlacklisted', merchant)) return 'payout_address_blocked'
    return (await isTrue('isBlacklisted', await feeReceiverOf(target))) ? 'fee_receiver_blocked' : null
  }
}
