import { isTaxId, normalizeTaxId } from '@ponte/contracts/tax-id'
import type { Texts } from '../texts/pt'

export interface Rule {
  fault: keyof Texts['faults']
  holds(text: string): boolean
}

const EMAIL = /^[^\s@]+@[^\s@]+$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/

export const required: Rule = { fault: 'required', holds: text => text !== '' }
export const email: Rule = { fault: 'email', holds: text => EMAIL.test(text) }
export const address: Rule = { fault: 'address', holds: text => ADDRESS.test(text) }
/** As the service reads it: with or without 0x, or as the end of a link. */
export const txHash: Rule = { fault: 'txHash', holds: text => /(^|0x|\/)[0-9a-fA-F]{64}([/?#]|$)/.test(text) }
export const optionalAddress: Rule = { fault: 'address', holds: text => text === '' || ADDRESS.test(text) }
export const code: Rule = { fault: 'code', holds: text => /^\d{3}\s?\d{3}$/.test(text) }
export const password: Rule = { fault: 'weakPassword', holds: text => text.length >= 8 }
export const webUrl: Rule = { fault: 'webUrl', holds: text => text === '' || isWebUrl(text) }
export const optionalEmail: Rule = { fault: 'email', holds: text => text === '' || EMAIL.test(text) }
export const optionalTaxId: Rule = { fault: 'taxId', holds: text => text === '' || isTaxId(normalizeTaxId(text)) }
/** By one of them a customer is found; a name is none. */
export const taxIdOrEmail: Rule = { fault: 'taxIdOrEmail', holds: text => EMAIL.test(text) || isTaxId(normalizeTaxId(text)) }
export const optionalColor: Rule = { fault: 'color', holds: text => /^(#[0-9a-fA-F]{6})?$/.test(text) }
/** Where payers are offered to go: https, or http on this machine. */
export const returnUrl: Rule = {
  fault: 'returnUrl',
  holds: text => text === '' || (isWebUrl(text) && (text.startsWith('https:') || isLoopback(text))),
}
export const periods: Rule = { fault: 'periods', holds: text => /^([1-9]\d{0,4})?$/.test(text) }

const isLoopback = (text: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(urlOf(text)?.hostname ?? '')

/** The URL of a text; null when it is none. Browsers that are still in use have neither `URL.parse` nor `URL.canParse`. */
export function urlOf(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

function isWebUrl(text: string): boolean {
  const url = urlOf(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}
