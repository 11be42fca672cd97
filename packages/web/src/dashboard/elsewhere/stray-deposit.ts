import type { OrderBody } from '@ponte/contracts'
import { accountOf, isOn } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { refusalOf } from '../../wallet/refusal'
import type { elsewherePt } from './elsewhere-pt'

/** Money at the deposit address of an order on a network that only the merchant's wallet asks. */
export interface StrayDeposit {
  chainId: number
  units: bigint
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

/** Money of an order by the node of the wallet, on the network that it is on; `hash` brought it. Throws NotThere. */
export async function lookThere(provider: Provider, { memo, payment }: Asked, hash: string): Promise<StrayDeposit> {
  const { router_address: router, merchant_address: merchant, deposit_address: deposit } = payment
  const ask = (method: string, ...params: unknown[]) => provider.request({ method, params })
  const read = (to: string, data: string) => ask('eth_call', { to, data }, 'latest')
  const codeAt = (address: string) => ask('eth_getCode', address, 'latest')
  try {
    await accountOf(provider)
    const chainId = Number(await ask('eth_chainId'))
    const offered = [payment, ...(payment.networks ?? [])].map(({ chain_id }) => chain_id)
    if (offered.includes(chainId)) throw new NotThere('offered', chainId)
    const receipt = Object((await ask('eth_getTransactionReceipt', hash)) ?? {})
    if (Reflect.get(receipt, 'blockNumber') === undefined) throw new NotThere('unknown', chainId)
    // Only our router makes this address of these terms.
    const isOurs =
      (await codeAt(router)) !== '0x' && addressIn(await read(router, calls.depositAddress(memo, merchant))) === deposit?.toLowerCase()
    if (!isOurs) throw new NotThere('no_router', chainId)
    const units = BigInt(String(await read(addressIn(await read(router, calls.token)), calls.balanceOf(deposit ?? ''))))
    if (units === 0n) throw new NotThere('empty', chainId)
    return { chainId, units, isContract: (await codeAt(merchant)) !== '0x' }
  } catch (error) {
    throw notThere(error)
  }
}

/** The merchant's wallet has the router send it on to the payout address. Answers the transaction's hash. Throws NotThere. */
export async function sendOn(provider: Provider, { memo, payment }: Asked, chainId: number): Promise<string> {
  try {
    const account = await accountOf(provider)
    if (!(await isOn(provider, chainId))) throw new NotThere('moved', chainId)
    const transaction = { from: account, to: payment.router_address, data: calls.sweep(memo, payment.merchant_address) }
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
