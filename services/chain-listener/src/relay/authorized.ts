import { authorizationNonce, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import type { Intent, NonceLine, Prepared, Submission } from './line/nonce-line'
import { rehearse } from './rehearsal'
import type { Authorization } from './store/authorization'
import type { AuthorizationStore } from './store/authorizations'
import type { Payable, PayableStore } from './store/payables'

const router = new Interface(paymentRouterAbi)
const usdc = new Interface(testUsdcAbi)

/** Most that are claimed, and asked about, at once. */
const AT_ONCE = 8
const FAILURES_MAX = 6
/** A payer is not kept waiting longer for a lower price of gas, or for the account to be refilled. */
const WAIT_MAX_MS = 300_000

type Signed = Pick<Authorization, 'memo' | 'merchant' | 'payer' | 'amountUnits' | 'validAfter' | 'validBefore' | 'salt' | 'signature'>

/** Most gas of a payer's signature, by what judges it. */
export interface AuthorizationGas {
  key: bigint
  wallet: bigint
}

export const authorizedCall = (of: Signed): string =>
  router.encodeFunctionData('payWithAuthorization', [
    ...[`0x${of.memo}`, of.merchant, of.amountUnits, of.payer, of.validAfter, of.validBefore, of.salt, of.signature],
  ])

/** The transaction that a payer's signature asks for. */
export const intentOf = (
  one: Signed & { orderId: string; router: string; wallet: boolean },
  { payee, isNewPayer }: { payee: string; isNewPayer: boolean },
  gas: AuthorizationGas,
): Intent => ({
  kind: 'authorization',
  wallet: one.wallet,
  orderIds: [one.orderId],
  merchants: [payee],
  payer: one.payer,
  salt: one.salt,
  target: one.router,
  data: authorizedCall(one),
  gasMax: one.wallet ? gas.wallet : gas.key,
  worthUnits: one.amountUnits,
  isNewPayer: isNewPayer && !one.wallet,
})

/** Whether the token has seen this payer use, or cancel, the signature's nonce. */
export async function isUsed(
  chain: ChainClient,
  token: string,
  { memo, merchant, payer, salt }: Pick<Signed, 'memo' | 'merchant' | 'payer' | 'salt'>,
  block: number | 'latest' = 'latest',
): Promise<boolean> {
  const data = usdc.encodeFunctionData('authorizationState', [payer, authorizationNonce(memo, merchant, salt)])
  return BigInt(await chain.call({ to: token, data }, block)) === 1n
}

type Found = Prepared | { refused: string } | Submission | 'used' | 'reverts' | 'no_room'

export interface AuthorizedOptions {
  chain: ChainClient
  token: string
  store: AuthorizationStore
  payables: PayableStore
  line: NonceLine
  gas: AuthorizationGas
  now: () => Date
  logger: Logger
}

/** Payers' signatures on their way to the chain. The token itself takes each nonce once, so trying again can pay nothing twice. */
export function createAuthorized({ chain, token, store, payables, line, gas, now, logger }: AuthorizedOptions) {
  const fail = (epoch: bigint, one: Authorization, reason: string) => store.settle(epoch, one, { state: 'failed', reason }, now())
  const later = (epoch: bigint, one: Authorization, reason: string | null) => store.settle(epoch, one, { state: 'accepted', reason }, now())

  /** Looks on the chain what became of a nonce that is used: by us, by anyone else who had the signature, or by the payer for something else. */
  const resolve = async (epoch: bigint, block: number, one: Authorization) => {
    const wasUsed = await isUsed(chain, token, one, block)
    const txHash = await store.paidBy(one)
    if (txHash !== undefined) return store.settle(epoch, one, { state: 'paid', txHash }, now())
    // A transaction in a block that the scan has not read may have used it, and be its payment.
    return wasUsed ? fail(epoch, one, 'nonce_used') : later(epoch, one, one.reason)
  }
  /** Why it must not be submitted any more; undefined when it may. */
  const refusal = async (one: Authorization, payable: Payable | undefined): Promise<string | undefined> => {
    // Its transaction was mined and reverted: the next one would, too, at our cost.
    if (one.reason === 'reverted') return 'reverted'
    if (one.reason === 'replaced' && one.failures >= 2) return 'not_mined'
    if (one.validBefore * 1_000 <= now().getTime()) return 'expired'
    if (!payable || payable.isCancelled) return 'order_closed'
    // Code has come to the account since its key signed: it would judge the signature now, at our cost.
    if (!one.wallet && (await chain.isContract(one.payer))) return 'account_changed'
    const seen = await payables.seenUnits(one.orderId)
    return payable.askedUnits !== null && seen + one.amountUnits > payable.askedUnits ? 'paid_otherwise' : undefined
  }
  /** Decides about one. It changes nothing, so that a stranger's wallet keeps only itself waiting. */
  const prepare = async (one: Authorization): Promise<Found> => {
    const [used, payable] = await Promise.all([isUsed(chain, token, one), payables.find(one.orderId)])
    if (used) return 'used'
    const reason = await refusal(one, payable)
    if (reason !== undefined || !payable) return { refused: reason ?? 'order_closed' }
    if (line.room() === 0) return 'no_room'
    const { payee } = payable
    const intent = intentOf(one, { payee, isNewPayer: await store.isNewPayer(one.payer, payee) }, gas)
    try {
      // A contract wallet's earlier answer may be over by now.
      if (one.wallet && !(await line.affords(intent.gasMax))) return 'out_of_gas'
      if (one.wallet) await rehearse(chain, await line.address(), intent)
      return await line.prepare(intent)
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      logger.warn('an authorisation would revert', { order_id: one.orderId, failures: one.failures, detail: error.message })
      return 'reverts'
    }
  }
  const send = (epoch: bigint, prepared: Prepared) => (line.room() === 0 ? 'no_room' : line.send(epoch, prepared))
  /** Answers whether it was sent. */
  const commit = async (epoch: bigint, block: number, one: Authorization, found: Found): Promise<boolean> => {
    if (found === 'used') {
      await resolve(epoch, block, one)
      return false
    }
    if (typeof found === 'object' && 'refused' in found) {
      await fail(epoch, one, found.refused)
      return false
    }
    const outcome = typeof found === 'object' ? await send(epoch, found) : found
    if (outcome === 'sent') return true
    const isLate = now().getTime() - one.acceptedAt.getTime() >= WAIT_MAX_MS
    if (outcome === 'reverts') await (one.failures >= FAILURES_MAX ? fail : later)(epoch, one, 'refused_by_token')
    else if (isWaiting(outcome)) await (isLate ? fail(epoch, one, outcome === 'too_dear' ? outcome : 'not_sent') : later(epoch, one, null))
    else await fail(epoch, one, 'over_budget')
    return false
  }
  return {
    /** Submits what was accepted, merchants in turn. `block` is the last confirmed one. Answers whether there may be more to submit now. */
    async submitDue(epoch: bigint, block: number): Promise<boolean> {
      const limit = Math.min(line.room(), AT_ONCE) || AT_ONCE
      // Without room only what has waited for too long is looked at: the others keep their places.
      const lateness = { lateBy: new Date(now().getTime() - WAIT_MAX_MS), onlyLate: line.room() === 0 }
      const claimed = await store.claim(now(), limit, lateness)
      const found = await Promise.allSettled(claimed.map(prepare))
      let submitted = false
      for (const [index, one] of claimed.entries()) {
        const what = found[index]
        if (what?.status === 'fulfilled') submitted = (await commit(epoch, block, one, what.value)) || submitted
      }
      // One that a node refused to answer about keeps none of the others.
      for (const what of found) if (what.status === 'rejected') throw what.reason
      // A failure now is due later, so that the next are others.
      return submitted || claimed.length === limit
    },
  }
}

const isWaiting = (outcome: string) => ['too_dear', 'out_of_gas', 'no_room'].includes(outcome)
