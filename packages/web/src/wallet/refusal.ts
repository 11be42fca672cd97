/** Faults between the page and a wallet, in the words the page has texts for. */
export type RefusalKind =
  | 'refused'
  | 'busy'
  | 'wrong_network'
  | 'unknown_network'
  | 'insufficient_usdc'
  | 'insufficient_gas'
  | 'no_account'
  | 'disconnected'
  | 'reverted'
  | 'other_tab'
  | 'not_taken'
  | 'too_late'
  | 'changed'
  | 'approval_slow'
  | 'unknown'

export class Refusal extends Error {
  override name = 'Refusal'
  constructor(
    readonly kind: RefusalKind,
    /** The wallet's own report, for the unknown ones; the balance, for insufficient_usdc. */
    readonly detail = '',
  ) {
    super(kind)
  }
}

const numberIn = (thing: unknown): number | undefined => {
  if (typeof thing !== 'object' || thing === null) return undefined
  const code: unknown = Reflect.get(thing, 'code')
  return typeof code === 'number' ? code : undefined
}

const textIn = (thing: unknown): string => {
  const message: unknown = typeof thing === 'object' && thing !== null ? Reflect.get(thing, 'message') : thing
  return typeof message === 'string' ? message : ''
}

/** Names what a wallet threw (EIP-1193, EIP-1474 and what wallets throw in practice). */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const code = numberIn(error)
  const text = textIn(error)
  if (code === 4001 || /user (rejected|denied|cancel)/i.test(text)) return new Refusal('refused')
  if (code === -32002) return new Refusal('busy')
  if (code === 4902) return new Refusal('unknown_network')
  if (code === 4900 || code === 4901) return new Refusal('disconnected')
  if (/insufficient funds|gas required exceeds/i.test(text)) return new Refusal('insufficient_gas')
  if (code === 3 || /revert/i.test(text)) return new Refusal('reverted', text.slice(0, 200))
  return new Refusal('unknown', text.slice(0, 200))
}

/** The wallet cannot do this at all, so another way may be tried; a refusal by its owner is no reason to ask him again. */
export const isUnsupported = (error: unknown): boolean => {
  const code = numberIn(error)
  return code === 4200 || code === -32601 || code === -32004 || error instanceof TypeError
}
