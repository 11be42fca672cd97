import { authorizationNonce, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import type { NonceLine } from './nonce-line'
import type { Authorization, AuthorizationStore } from './store/authorizations'

const router = new Interface(paymentRouterAbi)
const usdc = new Interface(testUsdcAbi)

const AT_ONCE = 4
const FAILURES_MAX = 6

type Signed = Pick<Authorization, 'memo' | 'merchant' | 'payer' | 'amountUnits' | 'validAfter' | 'validBefore' | 'salt' | 'signature'>

export const authorizedCall = (of: Signed): string =>
  router.encodeFunctionData('payWithAuthorization', [
    ...[`0x${of.memo}`, of.merchant, of.amountUnits, of.payer, of.validAfter, of.validBefore, of.salt, of.signature],
  ])

/** Whether the token has seen this payer use, or cancel, the signature's nonce. */
export async function isUsed(
  chain: ChainClient,
  token: string,
  { memo, merchant, payer, salt }: Pick<Signed, 'memo' | 'merchant' | 'payer' | 'salt'>,
): Promise<boolean> {
  const data = usdc.encodeFunctionData('authorizationState', [payer, authorizationNonce(memo, merchant, salt)])
  return BigInt(await chain.call({ to: token, data })) === 1n
}

export interface AuthorizedOptions {
  chain: ChainClient
  token: string
  store: AuthorizationStore
  line: NonceLine
  now: () => Date
  logger: Logger
}

/** Payers' signatures on their way to the chain. The token itself takes each nonce once, so trying again can pay nothing twice. */
export function createAuthorized({ chain, token, store, line, now, logger }: AuthorizedOptions) {
  /** Looks on the chain what became of a nonce that is used: by us, by anyone else who had the signature, or by the payer for something else. */
  const resolve = async (epoch: bigint, one: Authorization) => {
    const txHash = await store.paidBy(one)
    if (txHash !== undefined) return store.settle(epoch, one, { state: 'paid', txHash }, now())
    if (one.failures < FAILURES_MAX) return store.settle(epoch, one, { state: 'accepted' }, now())
    return store.settle(epoch, one, { state: 'failed', reason: 'nonce_used' }, now())
  }
  const submit = async (epoch: bigint, one: Authorization): Promise<boolean> => {
    if (await isUsed(chain, token, one)) {
      await resolve(epoch, one)
      return false
    }
    if (one.validBefore * 1_000 <= now().getTime()) {
      await store.settle(epoch, one, { state: 'failed', reason: 'expired' }, now())
      return false
    }
    try {
      const { orderId, payer, salt, router: target } = one
      return await line.submit(epoch, { kind: 'authorization', orderIds: [orderId], payer, salt, target, data: authorizedCall(one) })
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      const final = one.failures >= FAILURES_MAX
      logger.warn('an authorisation would revert', { order_id: one.orderId, final, detail: error.message })
      await store.settle(epoch, one, final ? { state: 'failed', reason: 'refused_by_token' } : { state: 'accepted' }, now())
      return false
    }
  }
  return {
    /** Submits what was accepted. Answers whether anything was. */
    async submitDue(epoch: bigint): Promise<boolean> {
      let submitted = false
      for (const one of await store.due(now(), AT_ONCE)) {
        if (!line.hasRoom()) break
        submitted = (await submit(epoch, one)) || submitted
      }
      return submitted
    },
  }
}
