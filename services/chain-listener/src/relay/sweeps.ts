import { paymentRouterAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import type { NonceLine } from './nonce-line'
import type { Payable, PayableStore } from './store/payables'
import { RevertError, type Wire } from './wire'

export interface SweepsOptions {
  wire: Wire
  store: PayableStore
  line: NonceLine
  minUnits: bigint
  batchMax: number
  old: { days: number; everyS: number }
  now: () => Date
  logger: Logger
}

/** Old addresses looked at in one turn. */
const OLD_AT_ONCE = 1_000

const router = new Interface(paymentRouterAbi)

/** Money at deposit addresses: found by reading balances at a confirmed block, and swept in batches. */
export function createSweeps(options: SweepsOptions) {
  const { wire, store, line, logger, now } = options

  /** What the router would sweep of each at the head, whatever the batch; null when it would revert as a whole. */
  const rehearse = async (target: string, some: readonly Payable[]): Promise<bigint[] | null> => {
    try {
      const answer = await wire.call({ from: line.address, to: target, data: sweepData(some, true) })
      const [amounts] = router.decodeFunctionResult('sweepMany', answer)
      return [...amounts]
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      logger.warn('a sweep would revert', { deposits: some.length, detail: error.message })
      return null
    }
  }
  const putOff = async (epoch: bigint, stuck: readonly Payable[]) => {
    if (stuck.length === 0) return
    const orderIds = stuck.map(({ orderId }) => orderId)
    await store.putOff(epoch, orderIds, now())
    logger.warn('deposits cannot be swept now', { deposits: stuck.length, first: stuck[0]?.address })
  }
  const sweep = async (epoch: bigint, target: string, due: readonly Payable[]): Promise<boolean> => {
    const amounts = await rehearse(target, due)
    const full = due.filter((_, index) => (amounts?.[index] ?? 0n) > 0n)
    const stuck = due.filter(payable => !full.includes(payable))
    await putOff(epoch, stuck)
    if (full.length === 0) return false
    try {
      const orderIds = full.map(({ orderId }) => orderId)
      return await line.submit(epoch, { kind: 'sweep', orderIds, payer: null, salt: null, target, data: sweepData(full, full.length > 1) })
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      await putOff(epoch, full)
      return false
    }
  }

  return {
    /** Reads what addresses hold at a confirmed block, where money was seen to move and at old ones in turn. Answers whether old ones hold any. */
    async look(epoch: bigint, block: number): Promise<boolean> {
      const at = now()
      const old = await store.old(at, { ...options.old, limit: OLD_AT_ONCE })
      const some = [...(await store.moved()), ...old]
      if (some.length === 0) return false
      const held = await wire.balances(
        some.flatMap(({ address }) => address ?? []),
        block,
      )
      const seen = some.map(({ orderId }, index) => ({ orderId, units: held[index] ?? 0n }))
      await store.looked(epoch, seen, block, at)
      return seen.slice(some.length - old.length).some(({ units }) => units > 0n)
    },

    /** Sweeps what is worth it. Answers whether anything was submitted. */
    async sweepDue(epoch: bigint): Promise<boolean> {
      let submitted = false
      while (line.hasRoom()) {
        const due = await store.due(now(), options.minUnits, options.batchMax)
        const target = due[0]?.router
        if (target === undefined) break
        const ofRouter = due.filter(payable => payable.router === target)
        submitted = (await sweep(epoch, target, ofRouter)) || submitted
      }
      return submitted
    },
  }
}

const sweepData = (some: readonly Payable[], many: boolean): string => {
  const deposits = some.map(({ memo, merchant }) => ({ memo: `0x${memo}`, merchant }))
  const [first] = deposits
  return many || !first
    ? router.encodeFunctionData('sweepMany', [deposits])
    : router.encodeFunctionData('sweep', [first.memo, first.merchant])
}
