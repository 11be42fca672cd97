import { z } from 'zod'

const LENGTH_MAX = 2_048

/**
 * True for an address that a payer's browser may be offered as the way back to a shop: https, or http on this machine, without a password.
 * Characters that browsers drop or rewrite are refused, so that the address is read as it is shown.
 */
export function isReturnUrl(text: string): boolean {
  if (text.length > LENGTH_MAX || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

export const returnUrl = z
  .string()
  .refine(isReturnUrl, 'must be an https:// URL of printable ASCII without a password, at most 2048 characters long')
  .meta({ example: 'https://shop.example/thanks?order=INV-7' })
