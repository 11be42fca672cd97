import { ApiError, type AuthorizePayment, formatUsdc, invalidField, type OrderStatus, parseUsdc } from '@ponte/contracts'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import { RpcError } from '../rpc/error'
import { NoNodeError } from '../rpc/pool'
import { type AuthorizationGas, intentOf, isUsed } from './authorized'
import type { NonceLine } from './line/nonce-line'
import { rehearse } from './rehearsal'
import { balanceOf, isSignedByKey, type tokenDomain } from './signature'
import type { Authorization, NewAuthorization } from './store/authorization'
import type { AuthorizationStore } from './store/authorizations'
import type { Payable, PayableStore } from './store/payables'

export interface AcceptanceOptions {
  chain: ChainClient
  token: string
  domain: ReturnType<typeof tokenDomain>
  /** The line that will submit it; undefined without one, or while it is paused. */
  line: NonceLine | undefined
  gas: AuthorizationGas
  /** Whether wallets that are contracts may pay. */
  contractWallets: boolean
  minUnits: bigint
  payables: PayableStore
  authorizations: AuthorizationStore
  refused(reason: string): void
  now: () => Date
}

/** The order's state in orders now. */
export interface Asked {
  status: OrderStatus
  dueUnits: bigint
}

/** Most signatures for one order: one that fails costs its payers the time in which it counts as coming. */
const PER_ORDER_MAX = 6
/** A signature that ends sooner may end before it is mined. */
const VALID_FOR_S = 60

/** Takes a payer's signature after everything about it has been checked that can be: by its terms, by its key, and by rehearsing it on the chain. */
export function createAcceptance(options: AcceptanceOptions) {
  const { chain, token, payables, authorizations, now } = options

  const checkTerms = async (wanted: NewAuthorization, payable: Payable, { status, dueUnits }: Asked) => {
    const atS = now().getTime() / 1_000
    const expiresS = Math.floor(payable.expiresAt.getTime() / 1_000)
    if ((status !== 'pending' && status !== 'underpaid') || payable.isCancelled)
      throw new ApiError('invalid_state', `The order is ${payable.isCancelled ? 'cancelled' : status} and waits for no payment.`)
    if (payable.expiresAt <= now()) throw new ApiError('invalid_state', 'The order has expired; ask the merchant for a new one.')
    if (wanted.validBefore < atS + VALID_FOR_S) throw invalidField('valid_before', `must be at least ${VALID_FOR_S} seconds ahead`)
    // The token refuses it later: a payment after the order's end is not even possible.
    if (wanted.validBefore > expiresS) throw invalidField('valid_before', `must be at most the order's expires_at, ${expiresS}`)
    if (wanted.validAfter >= atS) throw invalidField('valid_after', 'must lie in the past')
    if (wanted.amountUnits > dueUnits) throw invalidField('amount', `must be at most what is due, ${formatUsdc(dueUnits)}`)
    if (wanted.amountUnits < options.minUnits) throw invalidField('amount', `must be at least ${formatUsdc(options.minUnits)}`)
    if ((await authorizations.count(payable.orderId)) >= PER_ORDER_MAX) {
      options.refused('order_signatures')
      throw new ApiError('invalid_state', 'No more signatures are taken for this order; pay in another way.')
    }
    const seen = await payables.seenUnits(payable.orderId)
    if (payable.askedUnits !== null && seen + wanted.amountUnits > payable.askedUnits)
      throw new ApiError('invalid_state', 'A payment for this order is on its way; wait until it is confirmed.')
  }
  const checkSigner = async (wanted: NewAuthorization) => {
    if (!wanted.wallet) {
      const { domain } = options
      if (!isSignedByKey(wanted, await domain()) && !isSignedByKey(wanted, await domain({ isDoubted: true })))
        throw invalidField('signature', "must be payer_address's signature of exactly these terms")
      return
    }
    if (!options.contractWallets) throw invalidField('payer_address', 'is a contract; such wallets pay by a transaction of their own here')
    if (await authorizations.hasReverted(wanted.payer)) {
      options.refused('wallet_reverted')
      throw invalidField('payer_address', 'is a contract that took its word back on the chain before; pay by a transaction of its own')
    }
  }
  const checkOnChain = async (wanted: NewAuthorization, payable: Payable, line: NonceLine) => {
    await checkSigner(wanted)
    const [used, balance] = await Promise.all([isUsed(chain, token, wanted), balanceOf(chain, token, wanted.payer)])
    if (used) throw invalidField('salt', 'was used by this account for this order; what is still due needs another one')
    // A failed signature is public and another account can still submit it; with the same salt the token takes one of the two only.
    const failed = await authorizations.lastFailedSalt(wanted)
    if (failed !== undefined && failed !== wanted.salt && !(await isUsed(chain, token, { ...wanted, salt: failed })))
      throw invalidField('salt', `must be ${failed}, that of this account's signature that failed, which may still be submitted`)
    if (balance < wanted.amountUnits) throw invalidField('amount', `is more than the ${formatUsdc(balance)} that payer_address has`)
    const { payee } = payable
    const intent = intentOf(wanted, { payee, isNewPayer: await authorizations.isNewPayer(wanted.payer, payee) }, options.gas)
    await checkCost(intent, line)
    try {
      await rehearse(chain, await line.address(), intent)
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      options.refused('rehearsal')
      throw invalidField('signature', `is refused by the token or the router (${error.message.slice(0, 120)})`)
    }
  }
  const checkCost = async (intent: ReturnType<typeof intentOf>, line: NonceLine) => {
    const terms = await line.terms(intent)
    if (!terms.affords) throw unavailable('Payments without gas pause for a moment; pay in another way, or try again later.')
    const [over] = terms.leastWorth > intent.worthUnits ? ['too_dear'] : terms.over.values()
    if (over === undefined) return
    options.refused(over)
    if (over === 'too_dear')
      throw new ApiError(
        'invalid_state',
        `At the network's present fees only payments of ${formatUsdc(terms.leastWorth)} USDC or more go without gas; pay in another way.`,
      )
    throw new ApiError('invalid_state', 'No more payments without gas are taken here for now; pay in another way.')
  }

  return async (orderId: string, body: AuthorizePayment, asked: Asked): Promise<Authorization> => {
    const { line } = options
    const payable = await payables.find(orderId)
    // The gateway has seen the order, so its event is on the way.
    if (!payable) throw unavailable('The order is not known here yet; try again in a moment.')
    const terms = toAuthorization(payable, body)
    const known = await authorizations.find(terms)
    // Whatever has become of the order or of us since: who hears that it is refused pays in another way.
    if (known && isSame(known, terms)) return known
    if (line === undefined) throw new ApiError('invalid_state', 'Payments without gas are not offered here; pay in another way.')
    try {
      if (await authorizations.hasOpen(orderId)) throw taken()
      return await answered(async () => {
        const wanted = { ...terms, wallet: await chain.isContract(terms.payer) }
        await checkTerms(wanted, payable, asked)
        await checkOnChain(wanted, payable, line)
        const kept = await authorizations.accept(wanted, now())
        // Another request for the same order may have been quicker.
        if (!kept || !isSame(kept, wanted)) throw taken()
        return kept
      })
    } catch (error) {
      // The request whose answer was lost may have been behind this one until now.
      const late = await authorizations.find(terms)
      if (late && isSame(late, terms)) return late
      throw error
    }
  }
}
export type Acceptance = ReturnType<typeof createAcceptance>

const unavailable = (detail: string) => new ApiError('service_unavailable', detail, { retryAfterS: 2 })
const taken = () => new ApiError('invalid_state', 'Another signature for this order is on its way; wait for it.')

const isSame = (a: Omit<NewAuthorization, 'wallet'>, b: Omit<NewAuthorization, 'wallet'>) =>
  a.signature === b.signature && a.amountUnits === b.amountUnits && a.validBefore === b.validBefore && a.validAfter === b.validAfter

async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof NoNodeError) && !(error instanceof RpcError)) throw error
    throw unavailable('The chain cannot be asked at the moment; try again shortly.')
  }
}

const toAuthorization = ({ orderId, memo, merchant, router }: Payable, body: AuthorizePayment): Omit<NewAuthorization, 'wallet'> => ({
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
