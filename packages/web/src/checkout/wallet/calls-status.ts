/** Of calls that a wallet took: failed, or the transaction that carried them. */
export type CallsEnd = 'unknown' | 'pending' | 'failed' | `0x${string}`

const fieldOf = (thing: unknown, name: string): unknown => Reflect.get(Object(thing), name)

/** Whether a wallet can do several calls in one transaction there, or could once its owner lets it (`wallet_getCapabilities`, EIP-5792). */
export function isAtomic(capabilities: unknown, chain: string): boolean {
  const [, there] = Object.entries(Object(capabilities)).find(([key]) => key.toLowerCase() === chain) ?? []
  const status = fieldOf(fieldOf(there, 'atomic'), 'status')
  return status === 'supported' || status === 'ready'
}

/** 64 bytes. The chain is no part of it: calls that a wallet still holds of another network would be a second payment. */
export const callsId = (memo: string, salt: string): string => `0x${memo.replace(/^0x/, '')}${salt.slice(2)}`

const isHash = (text: unknown): text is `0x${string}` => typeof text === 'string' && /^0x[0-9a-f]{64}$/i.test(text)

/** An answer to `wallet_getCallsStatus`. What cannot be read is unknown: it is no reason to pay again. */
export function endOf(answer: unknown): CallsEnd {
  const status = fieldOf(answer, 'status')
  if (typeof status !== 'number') return 'unknown'
  if (status >= 400) return 'failed'
  const receipts = fieldOf(answer, 'receipts')
  // Where a wallet made several transactions after all, the last one pays.
  const last: unknown = Array.isArray(receipts) ? receipts.at(-1) : undefined
  if (status < 200 || !last) return 'pending'
  if (Number(fieldOf(last, 'status')) === 0) return 'failed'
  const hash = fieldOf(last, 'transactionHash')
  return isHash(hash) ? hash : 'pending'
}
