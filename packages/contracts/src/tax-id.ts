/** CPF and CNPJ, by which Brazil numbers people and companies: pure, digits and letters in and out. */

/** Since July 2026 a CNPJ has letters before its check digits. A letter counts as its ASCII code less 48, as a digit does (IN RFB 2.229/2024). */
const digitOf = (character: string): number => character.charCodeAt(0) - 48

/** Check digit by modulo 11: weights from 2 on, from the right, which begin again after the greatest. */
export function modulo11(characters: string, weightMax: number): number {
  const values = [...characters].map(digitOf).toReversed()
  const rest = values.reduce((sum, value, place) => sum + value * (2 + (place % (weightMax - 1))), 0) % 11
  return rest < 2 ? 0 : 11 - rest
}

/** The base with its two check digits, of which the second counts the first. */
export function withCheckDigits(base: string, weightMax: number): string {
  const once = `${base}${modulo11(base, weightMax)}`
  return `${once}${modulo11(once, weightMax)}`
}

/** The weights of a CPF grow to its beginning; those of a CNPJ begin again after 9. */
export const WEIGHT_MAX = { cpf: 11, cnpj: 9 } as const

const CPF = /^\d{3}\.?\d{3}\.?\d{3}-?\d{2}$/
const CNPJ = /^[0-9A-Z]{2}\.?[0-9A-Z]{3}\.?[0-9A-Z]{3}\/?[0-9A-Z]{4}-?\d{2}$/

/** Without its points, strokes and spaces, letters in upper case; a text that is neither stays as it is. */
export function normalizeTaxId(text: string): string {
  const written = text.trim().toUpperCase()
  return CPF.test(written) || CNPJ.test(written) ? written.replace(/[./-]/g, '') : text
}

/** Of a normalized one. A number of one digit alone has right check digits and belongs to no one: it is typed to get past a form. */
export function isTaxId(text: string): boolean {
  if (new Set(text).size === 1) return false
  if (/^\d{11}$/.test(text)) return withCheckDigits(text.slice(0, -2), WEIGHT_MAX.cpf) === text
  return /^[0-9A-Z]{12}\d{2}$/.test(text) && withCheckDigits(text.slice(0, -2), WEIGHT_MAX.cnpj) === text
}

/** As people read it: 123.456.789-09, 12.ABC.345/01DE-35. */
export const formatTaxId = (taxId: string): string =>
  taxId.length === 11
    ? taxId.replace(/^(.{3})(.{3})(.{3})(.{2})$/, '$1.$2.$3-$4')
    : taxId.replace(/^(.{2})(.{3})(.{3})(.{4})(.{2})$/, '$1.$2.$3/$4-$5')
