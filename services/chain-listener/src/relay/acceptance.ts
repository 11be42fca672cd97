import { ApiError, type AuthorizePayment, formatUsdc, type OrderStatus, parseUsdc } from '@ponte/contracts'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import { RpcError } from '../rpc/error'
import { NoNodeError } from '../rpc/pool'
import { authorizedCall, isUsed } from './authorized'
import { balanceOf, isSignedByKey, type TokenDomain } from './signature'
import type { Authorization, AuthorizationStore, NewAuthorization } from './store/authorizations'
import type { Payable, PayableStore } from './store/payables'

export interface AcceptanceOptions {
  chain: ChainClient
  token: string
  domain(): Promise<TokenDomain>
  /** Who will submit it; undefined without a relayer. */
  relayer: string | undefined
  minUnits: bigint
  payables: PayableStore
  authorizations: AuthorizationStore
  now: () => Date
}

/** The order's state in orders now. */
export interface Asked {
  status: OrderStatus
  dueUnits: bigint
}

/** A signature that ends sooner may end before it is mined. */
const VALID_FOR_S = 60

const wrong = (path: keyof AuthorizePayment, message: string) =>
  new ApiError('invalid_request', `The body is not valid: ${path} ${message}.`, { errors: [{ path, message }] })

/** Takes a payer's signature after everything about it has been checked that can be: by its terms, by its key, and by rehearsing it on the chain. */
export function createAcceptance(options: AcceptanceOptions) {
  const { chain, token, payables, authorizations, now } = options

  const checkTerms = (wanted: NewAuthorization, payable: Payable, { status, dueUnits }: Asked) => {
    const atS = now().getTime() / 1_000
    if (status !== 'pending' && status !== 'underpaid')
      throw new ApiError('invalid_state', `The order is ${status} and waits for no payment.`)
    if (payable.expiresAt <= now()) throw new ApiError('invalid_state', 'The order has expired; ask the merchant for a new one.')
    if (wanted.validBefore < atS + VALID_FOR_S) throw wrong('valid_before', `must be at least ${VALID_FOR_S} seconds ahead`)
    if (wanted.validAfter >= atS) throw wrong('valid_after', 'must lie in the past')
    if (wanted.amountUnits > dueUnits) throw wrong('amount', `must be at most what is due, ${formatUsdc(dueUnits)}`)
    if (wanted.amountUnits < options.minUnits) throw wrong('amount', `must be at least ${formatUsdc(options.minUnits)}`)
  }
  const checkOnChain = async (wanted: NewAuthorization, relayer: string) => {
    if (!isSignedByKey(wanted, await options.domain()) && !(await chain.isContract(wanted.payer)))
      throw wrong('signature', "must be payer_address's signature of exactly these terms")
    if (await isUsed(chain, token, wanted))
      throw wrong('salt', 'was used by this account for this order; what is still due needs another one')
    const balance = await balanceOf(chain, token, wanted.payer)
    if (balance < wanted.amountUnits) throw wrong('amount', `is more than the ${formatUsdc(balance)} that payer_address has`)
    try {
      await chain.call({ from: relayer, to: wanted.router, data: authorizedCall(wanted) })
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      throw wrong('signature', `is refused by the token or the router (${error.message.slice(0, 120)})`)
    }
  }

  return async (orderId: string, body: AuthorizePayment, asked: Asked): Promise<Authorization> => {
    const { relayer } = options
    if (relayer === undefined) throw new ApiError('invalid_state', 'Payments without gas are not offered here; pay in another way.')
    const payable = await payables.find(orderId)
    // The gateway has seen the order, so its event is on the way.
    if (!payable) throw new ApiError('service_unavailable', 'The order is not known here yet; try again in a moment.', { retryAfterS: 2 })
    const wanted = toAuthorization(payable, body)
    const known = await authorizations.find(wanted)
    if (known && isSame(known, wanted)) return known
    if (await authorizations.hasOpen(wanted)) throw taken()
    checkTerms(wanted, payable, asked)
    await answered(checkOnChain(wanted, relayer))
    const kept = await authorizations.accept(wanted)
    // Another request of the same payer may have been quicker.
    if (!kept || !isSame(kept, wanted)) throw taken()
    return kept
  }
}
export type Acceptance = ReturnType<typeof createAcceptance>

const taken = () => new ApiError('invalid_state', 'Another signature of this account for this order is on its way; wait for it.')

const isSame = (a: NewAuthorization, b: NewAuthorization) =>
  a.signature === b.signature && a.amountUnits === b.amountUnits && a.validBefore === b.validBefore && a.validAfter === b.validAfter

async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof NoNodeError) && !(error instanceof RpcError)) throw error
    throw new ApiError('service_unavailable', 'The chain cannot be asked at the moment; try again shortly.', { retryAfterS: 2 })
  }
}

const toAuthorization = ({ orderId, memo, merchant, router }: Payable, body: AuthorizePayment): NewAuthorization => ({
  orderId,
  memo,
  merchant,
  router,
  payer: body.payer_address.toLowerCase(),
  salt: body.salt,
  amountUnits: parseUsdc(body.amount),
  validAfter: body.valid_after,
  validBefore: body.valid_before,
  signature: body.signature.toLowerCase(),
})
