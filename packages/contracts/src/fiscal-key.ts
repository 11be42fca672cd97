import { modulo11 } from './tax-id'

/** The key of a fiscal document: pure. Formats and their sources are in docs/money.md, "Customer and fiscal document". */

export const FISCAL_KINDS = ['nfe', 'nfse'] as const
export type FiscalKind = (typeof FISCAL_KINDS)[number]

/** Of NF-e and NFC-e: the issuer's CNPJ, whose base may have letters, stands at 7 to 20. */
const NFE = /^\d{6}[0-9A-Z]{12}\d{26}$/
/**
 * Of the national NFS-e. Its layout has the issuer's number at 10 to 23, and its schema allows letters at 7 to 20: what either allows is taken, so that no true key is refused.
 */
const NFSE = /^\d{6}[0-9A-Z]{17}\d{27}$/

/** As its document prints it, in groups; letters in upper case. */
export const normalizeFiscalKey = (text: string): string => text.replace(/[\s.-]/g, '').toUpperCase()

/** The check digit, by modulo 11 over all characters before it. */
export const nfeCheckDigit = (base: string): number => modulo11(base, 9)

/** Why a normalized key is none of this kind; null where it is one. */
export function faultOfFiscalKey(kind: FiscalKind, key: string): string | null {
  if (kind === 'nfse') return NFSE.test(key) ? null : 'must be the 50 characters of a national NFS-e'
  if (!NFE.test(key)) return 'must be the 44 characters of an NF-e or NFC-e'
  return Number(key.at(-1)) === nfeCheckDigit(key.slice(0, -1)) ? null : 'has another check digit than its other characters give'
}

/** In groups of four, as printed: a spreadsheet takes it for a text and keeps every digit. */
export const groupedFiscalKey = (key: string): string => key.match(/.{1,4}/g)?.join(' ') ?? ''
