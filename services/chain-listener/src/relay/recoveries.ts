import type { RecoveryFailure } from '@ponte/contracts'
import { paymentRouterAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface, id } from 'ethers'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import { LeaseLostError } from '../store/lease'
import type { Intent, NonceLine, Submission } from './line/nonce-line'
import { missingContracts } from './refusals'
import { rehearse } from './rehearsal'
import type { DueRecovery, DueRecoveryStore } from './store/due-recoveries'
import type { PayableStore } from './store/payables'

export interface RecoverySubmissionOptions {
  chain: ChainClient
  routers: readonly string[]
  recoveries: DueRecoveryStore
  payables: PayableStore
  line: NonceLine
  gasMax: bigint
  /** A price for what is recovered, of which none is known: by it a transaction costs no more than an order may. */
  worthUnits: bigint
  now: () => Date
  logger: Logger
}

const router = new Interface(paymentRouterAbi)
const ZERO_AMOUNT = id('ZeroAmount()').slice(0, 10)
const AT_ONCE = 2
/** Before the last try it is confirmed, and seen, if another client recovered it. */
const FAILURES_MAX = 6
const REVERTED_MAX = 2

type Outcome = Submission | 'waits' | { refused: RecoveryFailure }

/** Sends foreign tokens on that merchants asked for. Their code is a stranger's and runs at our cost: it is rehearsed, capped and tried a few times, and the router's log alone states that it is done. */
export function createRecoverySubmission(options: RecoverySubmissionOptions) {
  const { chain, routers, recoveries, payables, line, gasMax, worthUnits, now, logger } = options
  const intentOf = ({ orderId, token, memo, merchant, router: target }: DueRecovery, payee: string): Intent => ({
    kind: 'recovery',
    // A stranger's code runs, as with a wallet that is a contract: a quarter of the budgets is left to all of them.
    wallet: true,
    orderIds: [orderId],
    merchants: [payee],
    payer: null,
    salt: token,
    target,
    data: router.encodeFunctionData('recover', [`0x${memo}`, merchant, token]),
    gasMax,
    worthUnits,
    isNewPayer: false,
  })
  const rehearsed = async (intent: Intent): Promise<RecoveryFailure | undefined> => {
    try {
      await rehearse(chain, await line.address(), intent)
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      return error.data === ZERO_AMOUNT ? 'nothing_left' : 'refused'
    }
  }
  const submit = async (epoch: bigint, one: DueRecovery): Promise<Outcome> => {
    const payable = routers.includes(one.router) ? await payables.find(one.orderId) : undefined
    if (!payable) return 'waits'
    if (one.reverted >= REVERTED_MAX) return { refused: 'refused' }
    if ((await missingContracts(chain, [payable])).size > 0) return { refused: 'payout_contract_missing' }
    // Without it the rehearsal would seem to revert.
    if (!(await line.affords(gasMax))) return 'out_of_gas'
    const intent = intentOf(one, payable.payee)
    const refused = await rehearsed(intent)
    if (refused) return { refused }
    try {
      return await line.submit(epoch, intent)
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      return { refused: 'refused' }
    }
  }
  const settle = async (epoch: bigint, one: DueRecovery, outcome: Outcome): Promise<void> => {
    if (outcome === 'sent') return
    const refused = typeof outcome === 'object' ? outcome.refused : undefined
    const isOver = refused === undefined ? one.isLate : one.failures + 1 >= FAILURES_MAX || one.reverted >= REVERTED_MAX
    if (!isOver) return recoveries.postpone(epoch, one, refused !== undefined, now())
    const reason = refused ?? reasonOf(outcome)
    logger.warn('a recovery is not tried any more', { recovery_id: one.recoveryId, order_id: one.orderId, reason })
    await recoveries.fail(epoch, one, reason)
  }
  return {
    /** Submits what merchants asked for. Answers whether there may be more to submit now. */
    async submitDue(epoch: bigint, accounts: readonly string[]): Promise<boolean> {
      if (line.room() === 0) return false
      const due = await recoveries.due(now(), accounts, Math.min(line.room(), AT_ONCE))
      let failure: unknown
      for (const one of due) {
        const outcome = await submit(epoch, one).catch((error: unknown): Outcome => {
          if (error instanceof LeaseLostError) throw error
          failure ??= error
          return 'waits'
        })
        await settle(epoch, one, outcome)
      }
      // One that no node answers about is postponed, and blocks no other.
      if (failure !== undefined) throw failure
      return due.length > 0
    },
  }
}

/** Why it waited to the last. */
function reasonOf(outcome: Outcome): RecoveryFailure {
  if (outcome === 'too_dear') return 'too_dear'
  return outcome === 'waits' || outcome === 'out_of_gas' ? 'not_sent' : 'over_budget'
}
