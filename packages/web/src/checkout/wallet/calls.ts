import type { CheckoutBody } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'

/**
 * The few contract calls of a payment, written out: a general ABI coder would be most of the page. `calls.test.ts` holds them against the
 * router's own ABI.
 */

const word = (value: bigint): string => {
  if (value < 0n || value >= 1n << 256n) throw new RangeError('does not fit into a word')
  return value.toString(16).padStart(64, '0')
}
const addressWord = (address: string): string => {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new TypeError(`not an address: ${address}`)
  return address.slice(2).toLowerCase().padStart(64, '0')
}
const bytesWord = (hex: string): string => {
  const digits = hex.replace(/^0x/, '')
  if (!/^[0-9a-fA-F]{64}$/.test(digits)) throw new TypeError(`not 32 bytes: ${hex}`)
  return digits.toLowerCase()
}

export const balanceOf = (owner: string): string => `0x70a08231${addressWord(owner)}`
export const allowance = (owner: string, spender: string): string => `0xdd62ed3e${addressWord(owner)}${addressWord(spender)}`
export const nonces = (owner: string): string => `0x7ecebe00${addressWord(owner)}`
export const tokenName = '0x06fdde03'
export const tokenVersion = '0x54fd4d50'
export const approve = (spender: string, amount: bigint): string => `0x095ea7b3${addressWord(spender)}${word(amount)}`
export const authorizationNonce = (memo: string, merchant: string, salt: string): string =>
  `0x7459087b${bytesWord(memo)}${addressWord(merchant)}${bytesWord(salt)}`

/**
 * Another one only once the router has taken a payment of this account: of signatures made meanwhile, for whatever is due then, only one can be paid.
 */
export function saltOf({ usdc_amount, payments }: Pick<CheckoutBody, 'usdc_amount' | 'payments'>, payer: string): string {
  const isTaken = ({ kind, status, payer_address }: CheckoutBody['payments'][number]) =>
    kind === 'router' && status !== 'orphaned' && payer_address?.toLowerCase() === payer.toLowerCase()
  return `0x${word(parseUsdc(usdc_amount) + BigInt(payments.filter(isTaken).length))}`
}

export interface RouterPayment {
  memo: string
  merchant: string
  amount: bigint
}

const payment = ({ memo, merchant, amount }: RouterPayment) => bytesWord(memo) + addressWord(merchant) + word(amount)

export const pay = (of: RouterPayment): string => `0x97d4df67${payment(of)}`

/** `signature` is 65 bytes, r ‖ s ‖ v, as wallets give it. Throws TypeError for any other, such as a contract wallet's. */
export function payWithPermit(of: RouterPayment, deadline: bigint, signature: string): string {
  const [, r, s, last] = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/i.exec(signature) ?? []
  if (!r || !s || !last) throw new TypeError('not a signature of 65 bytes')
  const v = BigInt(`0x${last}`)
  return `0xe3f64f01${payment(of)}${word(deadline)}${word(v < 27n ? v + 27n : v)}${r.toLowerCase()}${s.toLowerCase()}`
}

/** A returned uint256. Throws TypeError when it is none: an address without code answers `0x`. */
export function readWord(answer: unknown): bigint {
  if (typeof answer !== 'string' || !/^0x[0-9a-f]{64}/i.test(answer)) throw new TypeError('the contract did not answer')
  return BigInt(answer.slice(0, 66))
}

/** A returned string. */
export function readText(answer: unknown): string {
  if (typeof answer !== 'string' || answer.length < 130) throw new TypeError('the contract did not answer')
  const length = Number(BigInt(`0x${answer.slice(66, 130)}`))
  const bytes = answer.slice(130, 130 + 2 * length).match(/../g) ?? []
  return new TextDecoder().decode(Uint8Array.from(bytes, byte => Number.parseInt(byte, 16)))
}
