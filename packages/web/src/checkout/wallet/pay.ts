import type { CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { ask } from '../../problem'
import { connected, isOn } from '../../wallet/connected'
import type { Provider } from '../../wallet/provider'
import { Refusal, refusalOf } from '../../wallet/refusal'
import * as calls from './calls'

/** A payer's next act. */
export type Step = 'connect' | 'network' | 'check' | 'sign' | 'authorize' | 'approve' | 'pay'

export interface Sent {
  /** Null while the wallet has only named its calls. */
  hash: string | null
  /** The wallet's name of the calls that it took together (EIP-5792). */
  calls?: string
  payer: string
}

const RECEIPT_POLL_MS = 1000
/** A service that is busy, or is replaced, is asked once more. */
const BUSY_MS = 2000
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
    const of = talk(provider, payer, checkout, step => begin(checkout, step, onStep))
    const allowed = await readAllowed(of, order.amount)
    // Without this part of the page the payer approves and pays by two transactions.
    const parts = allowed ? null : await import('../parts').catch(() => null)
    const taken = await parts?.payAtOnce(of, order, checkout)
    if (taken) return { hash: null, calls: taken, payer }
    const data = allowed ? calls.pay(order) : ((await parts?.permitted(of, order)) ?? (await approved(of, order)))
    await of.begin('pay')
    return { hash: await send(of, of.router, data), payer }
  } catch (error) {
    throw refusalOf(error)
  }
}

/**
 * Before each confirmation: the wallet may have asked for the last one for minutes, and a page behind it hears nothing. An order that is closed or
 * paid has nothing due. Throws Refusal.
 */
export async function begin({ id, due }: CheckoutBody, step: Step, onStep: (step: Step) => void): Promise<void> {
  const look = () => ask<CheckoutBody>(`/api/v1/checkout/${id}`)
  const { body, answeredAt } = await look()
    .catch(() => new Promise(resolve => setTimeout(resolve, BUSY_MS)).then(look))
    .catch(() => {
      throw new Refusal('disconnected')
    })
  if (body.due !== due || Date.parse(body.expires_at) <= (answeredAt ?? Date.now())) throw new Refusal('changed')
  onStep(step)
}

const talk = (provider: Provider, payer: string, { payment }: CheckoutBody, begin: (step: Step) => Promise<void>) => ({
  provider,
  payer,
  begin,
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

/** Approves exactly what is due, and waits until that counts. */
async function approved(of: Talk, order: calls.RouterPayment): Promise<string> {
  await of.begin('approve')
  const hash = await send(of, of.token, calls.approve(of.router, order.amount))
  const deadline = Date.now() + RECEIPT_WAIT_MS
  for (;;) {
    const outcome = await outcomeOf(of.provider, hash)
    if (outcome === 'mined') return calls.pay(order)
    if (outcome === 'failed') throw new Refusal('reverted')
    if (Date.now() > deadline) throw new Refusal('approval_slow')
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
