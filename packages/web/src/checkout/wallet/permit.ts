import { isUnsupported } from '../../wallet/refusal'
import * as calls from './calls'
import { blockTime, type Talk } from './pay'
import { typedPermit } from './typed-permit'

const LIFE_S = 1800n

/** One signature in place of an approval. Null when the token or the wallet has no such thing. */
export async function permitted(of: Talk, order: calls.RouterPayment): Promise<string | null> {
  const terms = await permitTerms(of, order.amount)
  if (terms === null) return null
  await of.begin('sign')
  try {
    const signature = await of.provider.request({ method: 'eth_signTypedData_v4', params: [of.payer, JSON.stringify(terms.typed)] })
    return calls.payWithPermit(order, terms.deadline, String(signature))
  } catch (error) {
    if (isUnsupported(error)) return null
    throw error
  }
}

async function permitTerms({ provider, payer, token, router, chainId, read }: Talk, amount: bigint) {
  const [name, version, nonce, code, head] = await Promise.all([
    read(token, calls.tokenName).then(calls.readText).catch(absent),
    read(token, calls.tokenVersion).then(calls.readText).catch(absent),
    read(token, calls.nonces(payer)).then(calls.readWord).catch(absent),
    provider.request({ method: 'eth_getCode', params: [payer, 'latest'] }),
    provider.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  ])
  // USDC checks a permit by the account's key; an account with code of its own may have none.
  if (name === null || version === null || nonce === null || code !== '0x') return null
  const deadline = blockTime(head) + LIFE_S
  const message = { owner: payer, spender: router, value: `${amount}`, nonce: `${nonce}`, deadline: `${deadline}` }
  return { deadline, typed: typedPermit({ name, version, chainId, verifyingContract: token }, message) }
}

const absent = () => null
