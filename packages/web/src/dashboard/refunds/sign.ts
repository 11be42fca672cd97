import type { RefundBody, SignRefund } from '@ponte/contracts'
import { accountOf, connected } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { refusalOf } from '../../wallet/refusal'
import type { refundsPt } from './refunds-pt'

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
    throw notSigned(error)
  }
}

/** Lets the wallet sign a text of ours (EIP-191) by the key of this address, on whatever network it is. Throws NotSigned. */
export async function textSignedBy(provider: Provider, address: string, text: string): Promise<string> {
  try {
    const account = await accountOf(provider)
    if (account.toLowerCase() !== address.toLowerCase()) throw new NotSigned('other_account')
    const bytes = [...new TextEncoder().encode(text)].map(byte => byte.toString(16).padStart(2, '0'))
    return String(await provider.request({ method: 'personal_sign', params: [`0x${bytes.join('')}`, account] }))
  } catch (error) {
    throw notSigned(error)
  }
}

function notSigned(error: unknown): NotSigned {
  if (error instanceof NotSigned) return error
  const { kind } = refusalOf(error)
  return new NotSigned(kind === 'refused' || kind === 'busy' || kind === 'wrong_network' || kind === 'no_account' ? kind : 'other')
}
