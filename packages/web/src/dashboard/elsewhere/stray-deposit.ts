import type { OrderBody } from '@ponte/contracts'
import { accountOf, isOn } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { refusalOf } from '../../wallet/refusal'
import type { elsewherePt } from './elsewhere-pt'

/** Money at a deposit address of an order on a network where none of our listeners sees it. */
export interface StrayDeposit {
  chainId: number
  units: bigint
  /** The payout address of which the deposit address is made: the router sends there alone. */
  merchantAddress: string
  /** A contract stands at the payout address there. */
  isContract: boolean
}

type Reason = keyof typeof elsewherePt.reasons

/** Nothing to be sent on there, or not now. */
export class NotThere extends Error {
  override name = 'NotThere'
  constructor(
    readonly reason: Reason,
    readonly chainId: number | null = null,
  ) {
    super(reason)
  }
}

const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')
/** Calls of the router and its token, held against their ABI by `stray-deposit.test.ts`. */
export const calls = {
  token: '0xfc0c546a',
  depositAddress: (memo: string, merchant: string) => `0x7b1603b0${word(memo)}${word(merchant)}`,
  balanceOf: (owner: string) => `0x70a08231${word(owner)}`,
  sweep: (memo: string, merchant: string) => `0x4aef4070${word(memo)}${word(merchant)}`,
}
const addressIn = (answer: unknown): string => `0x${String(answer).slice(26).toLowerCase()}`

type Asked = Pick<OrderBody, 'memo' | 'payment'>

const offeredBy = (payment: OrderBody['payment']) => [payment, ...(payment.networks ?? [])]

/** Each deposit address that a payer may have seen, with the payout address behind it; on this network not its own one, which is watched. */
function unwatchedOn(chainId: number, payment: OrderBody['payment']) {
  const offered = offeredBy(payment)
  const own = offered.find(one => one.chain_id === chainId)?.deposit_address
  const others = offered.filter(({ deposit_address: deposit }) => deposit !== null && deposit !== own)
  return [...new Map(others.map(one => [one.deposit_address, one])).values()]
}

/** Whether a listener that saw this transfer would not have known the address as one of the order's there. */
export const isMixedUp = ({ payment }: Asked, recipient: string | null): boolean =>
  recipient !== null && offeredBy(payment).some(({ deposit_address: deposit }) => deposit?.toLowerCase() === recipient.toLowerCase())

/** Money of an order by the node of the wallet, on the network that it is on; `hash` brought it. Throws NotThere. */
export async function lookThere(provider: Provider, { memo, payment }: Asked, hash: string): Promise<StrayDeposit> {
  const { router_address: router } = payment
  const ask = (method: string, ...params: unknown[]) => provider.request({ method, params })
  const read = (to: string, data: string) => ask('eth_call', { to, data }, 'latest')
  const codeAt = (address: string) => ask('eth_getCode', address, 'latest')
  try {
    await accountOf(provider)
    const chainId = Number(await ask('eth_chainId'))
    const unwatched = unwatchedOn(chainId, payment)
    if (unwatched.length === 0) throw new NotThere('offered', chainId)
    const receipt = Object((await ask('eth_getTransactionReceipt', hash)) ?? {})
    if (Reflect.get(receipt, 'blockNumber') === undefined) throw new NotThere('unknown', chainId)
    if ((await codeAt(router)) === '0x') throw new NotThere('no_router', chainId)
    for (const { merchant_address: merchant = payment.merchant_address, deposit_address: deposit } of unwatched) {
      // Only our router makes this address of these terms.
      if (addressIn(await read(router, calls.depositAddress(memo, merchant))) !== deposit?.toLowerCase())
        throw new NotThere('no_router', chainId)
      const units = BigInt(String(await read(addressIn(await read(router, calls.token)), calls.balanceOf(deposit ?? ''))))
      if (units > 0n) return { chainId, units, merchantAddress: merchant, isContract: (await codeAt(merchant)) !== '0x' }
    }
    throw new NotThere('empty', chainId)
  } catch (error) {
    throw notThere(error)
  }
}

/** The merchant's wallet has the router send it on to the payout address. Answers the transaction's hash. Throws NotThere. */
export async function sendOn(
  provider: Provider,
  { memo, payment }: Asked,
  { chainId, merchantAddress }: Pick<StrayDeposit, 'chainId' | 'merchantAddress'>,
): Promise<string> {
  try {
    const account = await accountOf(provider)
    if (!(await isOn(provider, chainId))) throw new NotThere('moved', chainId)
    const transaction = { from: account, to: payment.router_address, data: calls.sweep(memo, merchantAddress) }
    return String(await provider.request({ method: 'eth_sendTransaction', params: [transaction] }))
  } catch (error) {
    throw notThere(error)
  }
}

function notThere(error: unknown): NotThere {
  if (error instanceof NotThere) return error
  const { kind } = refusalOf(error)
  return new NotThere(kind === 'refused' || kind === 'busy' || kind === 'no_account' || kind === 'insufficient_gas' ? kind : 'other')
}
