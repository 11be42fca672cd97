import type { AuthorizePayment, CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { RequestFailed } from '../../problem'
import { connected } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { Refusal, refusalOf } from '../../wallet/refusal'
import * as calls from './calls'
import { handIn } from './hand-in'
import { begin, blockTime, type Step } from './pay'
import { signatureEnd } from './signature-end'
import { fieldsOf } from './typed-permit'

/**
 * Pays with a signature alone (EIP-3009): the payer signs memo, merchant and amount, and the service submits it. For accounts without the
 * network's own coin. Throws Refusal, or RequestFailed when the service does not take the signature.
 */
export async function authorize(provider: Provider, checkout: CheckoutBody, onStep: (step: Step) => void): Promise<AuthorizePayment> {
  const signed = await sign(provider, checkout, onStep).catch((error: unknown) => {
    throw refusalOf(error)
  })
  // An answer that was lost may have been a good one: it is handed in again until there is one.
  await handIn(checkout.id, signed).catch((error: unknown) => {
    if (!(error instanceof RequestFailed) || (error.status > 0 && error.status < 500)) throw error
  })
  return signed
}

async function sign(provider: Provider, checkout: CheckoutBody, onStep: (step: Step) => void): Promise<AuthorizePayment> {
  const { payment, memo, due } = checkout
  const payer = await connected(provider, payment.chain_id, onStep)
  onStep('check')
  const value = parseUsdc(due)
  const isThere = ({ chain_id = payment.chain_id }: { chain_id?: number | undefined }) => chain_id === payment.chain_id
  const salt = calls.saltOf({ ...checkout, payments: checkout.payments.filter(isThere) }, payer)
  const read = (to: string, data: string) => provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] })
  const [balance, name, version, nonce, head] = await Promise.all([
    read(payment.token_address, calls.balanceOf(payer)).then(calls.readWord),
    read(payment.token_address, calls.tokenName).then(calls.readText),
    read(payment.token_address, calls.tokenVersion).then(calls.readText),
    read(payment.router_address, calls.authorizationNonce(memo, payment.merchant_address, salt)),
    provider.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }),
  ])
  if (balance < value) throw new Refusal('insufficient_usdc', formatUsdc(balance))
  const { authorization } = checkout
  const validBefore = signatureEnd({
    blockTime: blockTime(head),
    expiresAt: BigInt(Math.floor(Date.parse(checkout.expires_at) / 1_000)),
    failed: authorization?.status === 'failed' && isThere(authorization) ? BigInt(authorization.valid_before) : null,
  })
  if (validBefore === null) throw new Refusal('too_late')
  const typed = {
    types: {
      EIP712Domain: fieldsOf('string name, string version, uint256 chainId, address verifyingContract'),
      ReceiveWithAuthorization: fieldsOf('address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce'),
    },
    primaryType: 'ReceiveWithAuthorization',
    domain: { name, version, chainId: payment.chain_id, verifyingContract: payment.token_address },
    message: { from: payer, to: payment.router_address, value: `${value}`, validAfter: '0', validBefore: `${validBefore}`, nonce },
  }
  await begin(checkout, 'authorize', onStep)
  const signature = String(await provider.request({ method: 'eth_signTypedData_v4', params: [payer, JSON.stringify(typed)] }))
  const signed = { payer_address: payer, amount: due, valid_after: 0, valid_before: Number(validBefore), salt, signature }
  return payment.networks ? { ...signed, chain_id: payment.chain_id } : signed
}
