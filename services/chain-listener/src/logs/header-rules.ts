import type { HeaderForm } from '@ponte/payment-router'

export interface HeaderRules {
  chainId: number
  /** The form of headers, which must hash to the hash that they name; null on a chain whose headers cannot be held against it. */
  header: HeaderForm | null
  /** The latest time, in Unix seconds, that a header may have now. */
  latestTime(): number
}
