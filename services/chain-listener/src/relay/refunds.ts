import { testUsdcAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import { RevertError } from '../rpc/chain-client'
import { LeaseLostError } from '../store/lease'
import type { Intent, NonceLine, Submission } from './line/nonce-line'
import type { PayableStore } from './store/payables'
import type { SignedRefund, SignedRefundStore } from './store/signed-refunds'

export interface RefundSubmissionOptions {
  token: string
  refunds: SignedRefundStore
  payables: PayableStore
  line: NonceLine
  gasMax: bigint
  now: () => Date
  logger: Logger
}

const usdc = new Interface(testUsdcAbi)
const SUBMIT = 'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'
const AT_ONCE = 8

/** The form of the token that every version of it takes. */
function callOf({ fromAddress, payee, units, validBefore, nonce, signature }: SignedRefund): string {
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)]
  return usdc.encodeFunctionData(SUBMIT, [fromAddress, payee, units, 0, validBefore, nonce, v < 27 ? v + 27 : v, r, s])
}

/** Submits refunds that a merchant's wallet has signed. Their outcome is read from the chain alone, because any other client may submit them too. */
export function createRefundSubmission({ token, refunds, payables, line, gasMax, now, logger }: RefundSubmissionOptions) {
  const intentOf = (one: SignedRefund, merchant: string): Intent => ({
    kind: 'refund',
    wallet: false,
    orderIds: [one.orderId],
    merchants: [merchant],
    payer: one.fromAddress,
    salt: one.nonce,
    target: token,
    data: callOf(one),
    gasMax,
    worthUnits: one.units,
    // Reverts count against the merchant, the only party that can cause them.
    isNewPayer: true,
  })
  const submit = async (epoch: bigint, one: SignedRefund): Promise<Submission | 'reverts'> => {
    const merchant = (await payables.find(one.orderId))?.payee ?? one.fromAddress
    try {
      return await line.submit(epoch, intentOf(one, merchant))
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      logger.warn('a refund would revert', { refund_id: one.refundId, order_id: one.orderId, detail: error.message })
      return 'reverts'
    }
  }
  return {
    /** Submits what is signed. Answers whether there may be more to submit now. */
    async submitDue(epoch: bigint, accounts: readonly string[]): Promise<boolean> {
      if (line.room() === 0) return false
      const due = await refunds.due(now(), accounts, Math.min(line.room(), AT_ONCE))
      let failure: unknown
      for (const one of due) {
        const outcome = await submit(epoch, one).catch((error: unknown) => {
          if (error instanceof LeaseLostError) throw error
          failure ??= error
        })
        if (outcome !== 'sent') await refunds.postpone(epoch, one, now())
      }
      // A refund that no node answers about is postponed, and blocks no other.
      if (failure !== undefined) throw failure
      return due.length > 0
    },
  }
}
