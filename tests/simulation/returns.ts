import { randomUUID } from 'node:crypto'
import type { RefundBody } from '@ponte/contracts'
import { id as keccak, Wallet } from 'ethers'
import { askGateway, jsonRequest, units } from '../world'
import type { Place } from './judge-orders'
import { type Asked, mayMove } from './judge-returns'
import type { Network, Time } from './networks'
import type { Action } from './plan'

/** A return as it was asked for, and what was done about it since. */
export interface Asking extends Asked {
  network: Network
  /** It goes back from there. */
  wallet: Wallet
  taken: number[]
  /** A stranger submitted a signature of it. */
  isSubmitted: boolean
}

/** All that a merchant needs to return money of an order. */
export interface Returning {
  id: string
  apiKey: string
  places: ReadonlyMap<number, Place>
  usdcUnits: bigint
  /** Of its merchant, with every payout address that it may be paid at. */
  wallets: readonly Wallet[]
  /** Accounts that signed payments of it. */
  signers: Set<string>
  returns: Map<number, Asking>
}

interface Options {
  gateway: string
  networks: readonly Network[]
  time: Time
}

type Doing<Name extends Action['does']> = Extract<Action, { does: Name }>
type Count = (name: string) => void

const DAY_S = 86_400

const decimal = (amount: bigint) => `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`
/** Lower-case, as the judge has them; the nonce is made from the refund's own words. */
const nonceOf = (refundId: string, payee: string, amount: bigint) => keccak(`ponte.refund ${refundId} ${payee} ${amount}`)

/** Merchants who return money. What was answered and cannot be right is kept in `wrong`. */
export function createReturns({ gateway, networks, time }: Options) {
  const wrong: string[] = []

  /** Null where it was refused. The same request comes again while an owner is away. */
  async function post(order: Returning, path: string, body: object, count: Count): Promise<RefundBody | null> {
    const request = jsonRequest('POST', order.apiKey, body, randomUUID())
    for (let tries = 0; ; tries++) {
      const response = await askGateway(gateway, `/api/v1${path}`, request)
      if (response.status === 503 && tries < 40) {
        await new Promise(resolve => setTimeout(resolve, 250))
        continue
      }
      count(`${path.split('/').at(-1)} answered ${response.status}`)
      if (response.ok) return (await response.json()) as RefundBody
      if (response.status === 400 || response.status === 409) return null
      throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`)
    }
  }
  /** Reads the chain after the answer: what may move the money even now could when it was given. */
  async function couldMove(asking: Asking): Promise<boolean> {
    if (asking.taken.length === 0) return false
    const { chain, confirmed } = await asking.network.read()
    return mayMove(asking, chain, confirmed)
  }

  return {
    wrong,
    /** Where most came on, or on the network that is named; with one there is nothing to name. */
    async ask(order: Returning, { nth, of, to }: Doing<'return'>, { local }: Network, count: Count): Promise<void> {
      const payee = to === 'other' ? Wallet.createRandom().address : undefined
      const amount = typeof of === 'number' ? (order.usdcUnits * BigInt(of)) / 100n : undefined
      const body = {
        ...(amount === undefined ? {} : { amount: decimal(amount) }),
        ...(of === 'surplus' ? { surplus: true } : {}),
        ...(payee === undefined ? {} : { payee_address: payee }),
        ...(networks.length > 1 && (amount === undefined || amount % 2n === 0n) ? { chain_id: local.chainId } : {}),
        reason: 'simulated',
      }
      const made = await post(order, `/orders/${order.id}/refunds`, body, count)
      if (!made) return
      const [named, back] = [made.payee_address.toLowerCase(), units(made.amount)]
      const network = networks.find(one => one.local.chainId === (made.typed_data?.domain.chainId ?? networks[0]?.local.chainId))
      const from = order.places.get(network?.local.chainId ?? 0)?.merchantAddress ?? ''
      const wallet = order.wallets.find(({ address }) => address.toLowerCase() === from)
      if (!network || !wallet) throw new Error(`return ${made.id} is of no chain of its order`)
      const terms = { id: made.id, nonce: nonceOf(made.id, named, back), from, payee: named, units: back }
      const isProven = payee === undefined ? order.signers.has(named) : named === payee.toLowerCase()
      if (!isProven || made.nonce !== terms.nonce || made.from_address.toLowerCase() !== terms.from || (amount ?? back) !== back)
        wrong.push(`return ${made.id}: ${JSON.stringify(body)} was answered with ${JSON.stringify(made)}`)
      order.returns.set(nth, { ...terms, network, wallet, taken: [], isSignedElsewhere: false, isCancelled: false, isSubmitted: false })
    },

    async sign(order: Returning, { nth, forS, isBrought, isSubmitted }: Doing<'sign'>, count: Count): Promise<void> {
      const asking = order.returns.get(nth)
      if (!asking) return
      const { actors } = asking.network
      const validBefore = time.now() + forS
      const signature = await actors.sign(asking.wallet, asking, validBefore)
      if (isBrought) {
        const body = { valid_before: validBefore, signature }
        const isTaken = (await post(order, `/refunds/${asking.id}/signature`, body, count)) !== null
        if (isTaken && (await couldMove(asking))) wrong.push(`return ${asking.id}: a signature was taken while another one lived`)
        if (isTaken && asking.isCancelled) wrong.push(`return ${asking.id}: a signature was taken after it was cancelled`)
        if (isTaken) asking.taken.push(validBefore)
        else asking.isSignedElsewhere ||= isSubmitted
      } else asking.isSignedElsewhere = true
      if (!isSubmitted) return
      count(isBrought ? 'submitted beside us' : 'submitted without us')
      asking.isSubmitted = true
      await actors.submit(asking.wallet, asking, validBefore, signature)
    },

    async endNonce(order: Returning, { does, nth }: Doing<'cancel authorization' | 'use nonce'>): Promise<void> {
      const asking = order.returns.get(nth)
      if (!asking) return
      const { actors } = asking.network
      if (does === 'cancel authorization') await actors.cancelAuthorization(asking.wallet, asking.nonce)
      else await actors.spend(asking.wallet, 1n, asking.nonce, time.now() + DAY_S)
    },

    async cancel(order: Returning, { nth }: Doing<'cancel return'>, count: Count): Promise<void> {
      const asking = order.returns.get(nth)
      if (!asking || (await post(order, `/refunds/${asking.id}/cancel`, {}, count)) === null) return
      if (await couldMove(asking)) wrong.push(`return ${asking.id}: it was cancelled while a signature lived`)
      asking.isCancelled = true
    },
  }
}

/** Money of it goes back, or may. */
export const isReturning = ({ returns }: Pick<Returning, 'returns'>): boolean =>
  [...returns.values()].some(({ isCancelled }) => !isCancelled)
