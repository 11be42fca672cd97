import type { ChainProfile } from '@ponte/payment-router'
import { Interface, Transaction } from 'ethers'
import { RpcError } from './error'

/** A chain's price for the data that it gives to the chain below it, beside a transaction's own gas. */
export type DataFee = ChainProfile['dataFee']

/** Charged by a chain above another one for a transaction's data: native coin beside the gas, or more gas. */
export interface DataCost {
  wei: bigint
  gas: bigint
}

export const NO_DATA_COST: DataCost = { wei: 0n, gas: 0n }

/** `GasPriceOracle` of the OP stack, and `NodeInterface` of Arbitrum, which no code stands behind: its nodes answer for it. */
const ORACLE = '0x420000000000000000000000000000000000000F'
const NODE_INTERFACE = '0x00000000000000000000000000000000000000C8'
const abi = new Interface([
  'function getL1Fee(bytes) view returns (uint256)',
  'function gasEstimateL1Component(address, bool, bytes) view returns (uint64 gas, uint256 baseFee, uint256 l1BaseFee)',
])

/** The price of the chain below moves until the transaction is mined, and no transaction can bound it. */
const withRoom = (amount: bigint) => (amount * 3n) / 2n

/** The question what the data of a call costs; undefined where it costs nothing beside its gas. */
export function dataFeeCall(model: DataFee, { chainId, to, data }: { chainId: number; to: string; data: string }) {
  if (model === 'none') return undefined
  if (model === 'arbitrum') return { to: NODE_INTERFACE, data: abi.encodeFunctionData('gasEstimateL1Component', [to, false, data]) }
  // Numbers as wide as those that will be signed: the oracle counts bytes.
  const wide = { nonce: 0xff_ff_ff, gasLimit: 0xff_ff_ff, maxFeePerGas: 0xff_ff_ff_ff_ffn, maxPriorityFeePerGas: 0xff_ff_ff_ff_ffn }
  const { unsignedSerialized } = Transaction.from({ type: 2, chainId, to, data, ...wide })
  return { to: ORACLE, data: abi.encodeFunctionData('getL1Fee', [unsignedSerialized]) }
}

export function decodeDataFee(model: DataFee, answer: string): DataCost {
  // An account without code answers nothing: this is not the chain that it was taken for.
  if (answer === '0x') throw new RpcError('wrong_answer', `the ${model} chain has no contract that prices data`)
  if (model === 'arbitrum') return { wei: 0n, gas: withRoom(BigInt(abi.decodeFunctionResult('gasEstimateL1Component', answer).gas)) }
  return { wei: withRoom(BigInt(abi.decodeFunctionResult('getL1Fee', answer)[0])), gas: 0n }
}
