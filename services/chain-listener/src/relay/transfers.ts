import { paymentRouterAbi, splitFee } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import type { RawLog } from '../payment-log'
import { toNumber } from '../payment-log'
import type { Payable } from '../store/payables'
import type { Transfer, TransferStore } from '../store/transfers'
import type { Wire } from './wire'

const router = new Interface(paymentRouterAbi)

export interface TransfersOptions {
  wire: Wire
  token: string
  store: TransferStore
  logger: Logger
}

export type Transfers = ReturnType<typeof createTransfers>

/** Finds the transfers behind balances that grew: who paid, in which transaction, and when. */
export function createTransfers({ wire, token, store, logger }: TransfersOptions) {
  const feeBps = new Map<string, number>()
  const feeOf = async (target: string): Promise<number> => {
    const known = feeBps.get(target) ?? Number(BigInt(await wire.call({ to: target, data: router.encodeFunctionData('feeBps') })))
    feeBps.set(target, known)
    return known
  }
  const read = async (payable: Payable, address: string, from: number, to: number): Promise<Transfer[]> => {
    const logs = from > to ? [] : await wire.transfersTo(token, address, from, to)
    const times = await wire.blockTimes([...new Set(logs.map(log => toNumber(log.blockNumber)))])
    const bps = await feeOf(payable.router)
    return logs.map(log => toTransfer(log, payable, address, times.get(toNumber(log.blockNumber)) ?? 0, bps))
  }
  const sum = (some: readonly Transfer[]) => some.reduce((total, one) => total + one.amountUnits, 0n)

  return {
    /** Keeps the transfers by which these balances grew up to a block. */
    async find(epoch: bigint, grown: readonly { payable: Payable; by: bigint }[], block: number): Promise<void> {
      const before = await store.lookedUpTo()
      for (const { payable, by } of grown) {
        const { address, orderId } = payable
        if (address === null) continue
        let found = before === undefined ? [] : await read(payable, address, before + 1, block)
        // An address that is new here may have been paid before the last look at the others.
        if (sum(found) < by) found = await read(payable, address, await store.firstBlock(orderId), block)
        if (sum(found) < by) logger.warn('a deposit address grew by more than its transfers show', { order_id: orderId, address })
        if (found.length > 0) await store.add(epoch, found)
      }
    },
  }
}

function toTransfer(log: RawLog, { memo, merchant, router: target }: Payable, address: string, time: number, bps: number): Transfer {
  const amountUnits = BigInt(log.data)
  return {
    ...{ memo, merchant, router: target, address, amountUnits, feeUnits: splitFee(amountUnits, bps).fee },
    payer: `0x${log.topics[1]?.slice(26)}`,
    txHash: log.transactionHash,
    logIndex: toNumber(log.logIndex),
    blockNumber: toNumber(log.blockNumber),
    blockHash: log.blockHash,
    blockTime: new Date(time * 1_000),
  }
}
