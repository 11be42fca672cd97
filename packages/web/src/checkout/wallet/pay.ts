import type { CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { connected, isOn } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { isUnsupported, Refusal, refusalOf } from '../../wallet/refusal'
import * as calls from './calls'
import { typedPermit } from './typed-permit'

/** A payer's next act. */
export type Step = 'connect' | 'network' | 'check' | 'sign' | 'authorize' | 'approve' | 'pay'

export interface Sent {
  /** Null while the wallet has only named its calls. */
  hash: string | null
  /** The wallet's name of the calls that it took together (EIP-5792). */
  calls?: string
  payer: string
}

const PERMIT_LIFE_S = 1800n
const RECEIPT_POLL_MS = 1000
const RECEIPT_WAIT_MS = 10 * 60_000

/**
 * Pays what is due with a wallet: connects, switches the network, and pays with as few confirmations as token and wallet allow: one if the
 * router may take the amount already or the wallet takes approval and payment together, a signature and one transaction where the token has
 * EIP-2612, an approval and a payment otherwise. Throws Refusal.
 */
export async function payWithWallet(provider: Provider, checkout: CheckoutBody, onStep: (step: Step) => void): Promise<Sent> {
  try {
    const payer = await connected(provider, checkout.payment.chain_id, onStep)
    onStep('check')
    const order = { memo: checkout.memo, merchant: checkout.payment.merchant_address, amount: parseUsdc(checkout.due) }
    const of = talk(provider, payer, checkout)
    const allowed = await readAllowed(of, order.amount)
    // Without this part of the page the payer confirms twice instead of once.
    const pay = allowed ? null : await import('../parts').then(({ payAtOnce }) => payAtOnce, absent)
    const taken = await pay?.(of, order, checkout, onStep)
    if (taken) return { hash: null, calls: taken, payer }
    const data = allowed ? calls.pay(order) : ((await permitted(of, order, onStep)) ?? (await approved(of, order, onStep)))
    onStep('pay')
    return { hash: await send(of, of.router, data), payer }
  } catch (error) {
    throw refusalOf(error)
  }
}

const talk = (provider: Provider, payer: string, { payment }: CheckoutBody) => ({
  provider,
  payer,
  chainId: payment.chain_id,
  token: payment.token_address,
  router: payment.router_address,
  read: (to: string, data: string) => provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] }),
})
export type Talk = ReturnType<typeof talk>

/** Whether the router may take the amount already. Throws Refusal where the account cannot pay it. */
async function readAllowed({ provider, payer, token, router, read }: Talk, amount: bigint): Promise<boolean> {
  const [balance, allowed, gas] = await Promise.all([
    read(token, calls.balanceOf(payer)).then(calls.readWord),
    read(token, calls.allowance(payer, router)).then(calls.readWord),
    provider.request({ method: 'eth_getBalance', params: [payer, 'latest'] }),
  ])
  if (balance < amount) throw new Refusal('insufficient_usdc', formatUsdc(balance))
  // An account with code may have its fees paid by others.
  const isBare = async () => (await provider.request({ method: 'eth_getCode', params: [payer, 'latest'] })) === '0x'
  if (BigInt(String(gas)) === 0n && (await isBare())) throw new Refusal('insufficient_gas')
  return allowed >= amount
}

/** One signature in place of an approval. Null when the token or the wallet has no such thing. */
async function permitted(of: Talk, order: calls.RouterPayment, onStep: (step: Step) => void): Promise<string | null> {
  const terms = await permitTerms(of, order.amount)
  if (terms === null) return null
  onStep('sign')
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
  const deadline = blockTime(head) + PERMIT_LIFE_S
  const message = { owner: payer, spender: router, value: `${amount}`, nonce: `${nonce}`, deadline: `${deadline}` }
  return { deadline, typed: typedPermit({ name, version, chainId, verifyingContract: token }, message) }
}

const absent = () => null

/** Approves exactly what is due, and waits until that counts. */
async function approved(of: Talk, order: calls.RouterPayment, onStep: (step: Step) => void): Promise<string> {
  onStep('approve')
  const hash = await send(of, of.token, calls.approve(of.router, order.amount))
  const deadline = Date.now() + RECEIPT_WAIT_MS
  for (;;) {
    const outcome = await outcomeOf(of.provider, hash)
    if (outcome === 'mined') return calls.pay(order)
    if (outcome === 'failed' || Date.now() > deadline) throw new Refusal('reverted')
    await new Promise(resolve => setTimeout(resolve, RECEIPT_POLL_MS))
  }
}

/** A transaction's end, as this wallet's node sees it. */
export async function outcomeOf(provider: Provider, hash: string): Promise<'mined' | 'failed' | 'unknown'> {
  const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] })
  if (typeof receipt !== 'object' || receipt === null) return 'unknown'
  return Number(Reflect.get(receipt, 'status')) === 1 ? 'mined' : 'failed'
}

async function send({ provider, payer: from, chainId }: Talk, to: string, data: string): Promise<string> {
  // The router has this address on other networks too, and the payer may have changed the wallet's network since.
  if (!(await isOn(provider, chainId))) throw new Refusal('wrong_network')
  const hash = await provider.request({ method: 'eth_sendTransaction', params: [{ from, to, data }] })
  if (typeof hash !== 'string') throw new Refusal('unknown')
  return hash
}

export function blockTime(block: unknown): bigint {
  const timestamp: unknown = typeof block === 'object' && block !== null ? Reflect.get(block, 'timestamp') : undefined
  return typeof timestamp === 'string' ? BigInt(timestamp) : BigInt(Math.floor(Date.now() / 1000))
}
