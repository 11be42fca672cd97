import type { CheckoutBody } from '@ponte/contracts'
import type { Provider } from '../../wallet/provider'
import { isUnsupported, Refusal } from '../../wallet/refusal'
import { asked } from './asked'
import * as calls from './calls'
import { type CallsEnd, callsId, endOf, isAtomic } from './calls-status'
import type { Talk } from './pay'

// EIP-5792: invalid parameters, an unsupported capability or chain, too many calls, an upgrade of the account that its owner refused, no atomicity.
const NOT_AT_ONCE = [-32602, 5700, 5710, 5740, 5750, 5760]
const DUPLICATE = 5720

/** Wallets whose calls failed in an unknown way: these pay in two steps from then on. */
const unfit = new WeakSet<Provider>()
/** Calls that the payer was sent to the wallet for. One who comes back from there to pay has seen that they did not. */
const shown = new Set<string>()

/** Approval and payment in one confirmation. The wallet's name of them; null where the wallet does not do that. Throws Refusal, or what the wallet throws. */
export async function payAtOnce(
  { provider, payer, chainId, token, router, begin }: Talk,
  order: calls.RouterPayment,
  checkout: CheckoutBody,
): Promise<string | null> {
  const chain = `0x${chainId.toString(16)}`
  // The same until the router has taken a payment of this account: a page that was loaded again asks for the same calls, not for others.
  const id = callsId(order.memo, calls.saltOf(checkout, payer))
  const isBack = shown.has(id)
  const end = await statusOf(provider, id)
  if (end === 'failed') return null
  if (end !== 'unknown') return isBack ? null : named(id)
  const capabilities = await asked(provider, 'wallet_getCapabilities', [payer, [chain]])
  if (unfit.has(provider) || !isAtomic(capabilities, chain)) return null
  await begin('pay')
  const request = {
    version: '2.0.0',
    id,
    from: payer,
    chainId: chain,
    atomicRequired: true,
    calls: [
      { to: token, value: '0x0', data: calls.approve(router, order.amount) },
      { to: router, value: '0x0', data: calls.pay(order) },
    ],
  }
  try {
    const taken = await provider.request({ method: 'wallet_sendCalls', params: [request] })
    // Older wallets answer with the id alone.
    return named(id, typeof taken === 'string' ? taken : Reflect.get(Object(taken), 'id'))
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code')
    if (isUnsupported(error) || NOT_AT_ONCE.some(known => known === code)) return null
    if (code !== DUPLICATE) {
      if (code !== 4001) unfit.add(provider)
      throw error
    }
    const isKnown = (await statusOf(provider, id)) !== 'unknown'
    if (isBack) return null
    named(id)
    if (isKnown) return id
    // The wallet may still be asking.
    throw new Refusal('busy')
  }
}

/** Another name, where the wallet gave its own. */
function named(id: string, own?: unknown): string {
  shown.add(id)
  return typeof own === 'string' ? own : id
}

const statusOf = async (provider: Provider, id: string): Promise<CallsEnd> => endOf(await asked(provider, 'wallet_getCallsStatus', [id]))

/** The end of calls, by the first of these wallets that knows them: `failed`, or the transaction that carried them. Null while there is none. */
export async function callsEnd(providers: readonly Provider[], id: string): Promise<string | null> {
  const ends = await Promise.all(providers.map(provider => statusOf(provider, id)))
  return ends.find(end => end !== 'unknown' && end !== 'pending') ?? null
}
