import { testUsdcAbi } from '@ponte/payment-router'
import { Interface } from 'ethers'
import type { Call } from './node'

const usdc = new Interface(testUsdcAbi)

const call = (token: string, data: string, block: number): Call => ({
  method: 'eth_call',
  params: [{ to: token, data }, `0x${block.toString(16)}`],
})

/** Whether the token has the nonce used or cancelled at a block, and what the account holds there. */
export const nonceCalls = (token: string, { fromAddress, nonce }: { fromAddress: string; nonce: string }, block: number): [Call, Call] => [
  call(token, usdc.encodeFunctionData('authorizationState', [fromAddress, nonce]), block),
  call(token, usdc.encodeFunctionData('balanceOf', [fromAddress]), block),
]

/** Throws on an answer that is no word. */
export function toWord(answer: unknown): bigint {
  if (typeof answer !== 'string' || !/^0x[0-9a-f]{64}$/i.test(answer))
    throw new TypeError(`the node answered a call with ${String(answer).slice(0, 80)}`)
  return BigInt(answer)
}
