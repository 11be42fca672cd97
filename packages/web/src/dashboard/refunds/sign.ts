import type { RefundBody, SignRefund } from '@ponte/contracts'
import { connected } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { refusalOf } from '../../wallet/refusal'
import type { refundsPt } from './refunds-pt'

/** Why the wallet did not sign. */
export class NotSigned extends Error {
  override name = 'NotSigned'
  constructor(readonly reason: keyof typeof refundsPt.refusals) {
    super(reason)
  }
}

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** Lets the merchant's wallet sign a refund, as it was read just now. Throws NotSigned. */
export async function signedBy(provider: Provider, { from_address, typed_data }: RefundBody): Promise<SignRefund> {
  if (typed_data === null) throw new NotSigned('not_now')
  const { domain, types, primaryType, message } = typed_data
  try {
    const account = await connected(provider, domain.chainId, () => undefined)
    if (account.toLowerCase() !== from_address.toLowerCase()) throw new NotSigned('other_account')
    const typed = { types: { EIP712Domain: DOMAIN_TYPE, ...types }, primaryType, domain, message }
    const signature = String(await provider.request({ method: 'eth_signTypedData_v4', params: [account, JSON.stringify(typed)] }))
    return { valid_before: Number(message.validBefore), signature }
  } catch (error) {
    if (error instanceof NotSigned) throw error
    const { kind } = refusalOf(error)
    throw new NotSigned(kind === 'refused' || kind === 'busy' || kind === 'wrong_network' || kind === 'no_account' ? kind : 'other')
  }
}
