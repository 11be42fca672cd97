import { RequestFailed } from '../../problem'
import type { Wallet } from '../../wallet/provider'
import type { SentPayment } from '../live/sent-payment'
import { handIn } from './hand-in'
import { outcomeOf } from './pay'
import { callsEnd } from './pay-at-once'

/** The end of a payment that left from this browser: `failed`, or the transaction of the calls that its wallet took. Null while neither is known. */
export async function sentOutcome(orderId: string, { hash, calls, authorization }: SentPayment, wallets: readonly Wallet[]) {
  const providers = wallets.map(({ provider }) => provider)
  if (authorization) {
    const { status } = await handIn(orderId, authorization).catch((error: unknown) => ({ status: isRefusal(error) ? 'failed' : 'unknown' }))
    if (status === 'failed') return 'failed'
  }
  if (calls && hash === null) return callsEnd(providers, calls)
  if (hash === null) return null
  const outcomes = await Promise.all(providers.map(provider => outcomeOf(provider, hash).catch(() => 'unknown' as const)))
  return outcomes.includes('failed') ? 'failed' : null
}

/** The service knows each signature that it took, and refuses no such one; what the token has used already is a payment that is on its way. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RequestFailed &&
  error.status >= 400 &&
  error.status < 500 &&
  error.status !== 429 &&
  !error.errors.some(({ path }) => path === 'salt')
