import { parseBrl, parseUsdc } from '@ponte/contracts'

/** A customer's message, or a document, quotes an order by one of these. */
export type Quotation =
  | { kind: 'id'; from: string; to: string }
  /** 64 hex digits: a memo's, or a transaction's behind 0x. */
  | { kind: 'hash'; hex: string }
  | { kind: 'address'; address: string }
  | Words

/** Words in any order, without accents. Any of the others is enough by itself. */
export interface Words {
  kind: 'words'
  words: string[]
  /** Words that may be the merchant's reference of the order. */
  references: string[]
  /** Of a number that is written with points or dashes, such as a CPF. */
  digits: string | null
  brlCentavos: bigint[]
  usdcUnits: bigint[]
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/
const HASH = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/
const ADDRESS = /0x[0-9a-f]{40}(?![0-9a-f])/
/** The beginning of an id, which is a time: the first block of one that has a letter, or more than that block. As pages shorten it, the end follows. */
const ID_BEGINS =
  /^#?(01[0-9a-f]{6}(?:-[0-9a-f]{0,4}(?:-[0-9a-f]{0,4}(?:-[0-9a-f]{0,4}(?:-[0-9a-f]{0,12})?)?)?|[0-9a-f]{4,24})?)(?:(?:…|\.{3}).*)?$/
const AMOUNT = /^(r\$|brl|us\$|usdc|\$)?\s*(\d[\d.,]*)\s*(reais|brl|usdc)?$/
const DIGITS = /^\d[\d.\-/\s]{6,}\d$/
const DIGITS_MIN = 8
/** Each costs a look at every order that is searched. */
const WORDS_MAX = 12

/** Reads what a text quotes; it may be a link or a sentence with an id, an address or a hash in it. */
export function readQuotation(text: string): Quotation {
  const lower = text.trim().toLowerCase()
  const [id] = ID.exec(lower) ?? []
  if (id) return { kind: 'id', from: id, to: id }
  const [hex] = HASH.exec(lower.replaceAll('0x', ' ')) ?? []
  if (hex) return { kind: 'hash', hex }
  const [address] = ADDRESS.exec(lower) ?? []
  if (address) return { kind: 'address', address }
  const [, begins = ''] = ID_BEGINS.exec(lower) ?? []
  if (/[a-f-]/.test(begins) || begins.length > 8) return { kind: 'id', from: idOf(begins, '0'), to: idOf(begins, 'f') }
  const words = folded(lower)
    .split(/[\s,;:()"']+/)
    .map(word => word.replace(/^[#.]+|[.!?]+$/g, ''))
    .filter(word => word !== '')
    .slice(0, WORDS_MAX)
  return {
    kind: 'words',
    words,
    references: words.filter(word => /\d/.test(word)),
    digits: DIGITS.test(lower) ? digitsOf(lower) : null,
    ...amounts(lower),
  }
}

const idOf = (begins: string, rest: string) =>
  begins
    .replaceAll('-', '')
    .padEnd(32, rest)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Small letters without accents; SQL folds what is searched in the same way. */
const folded = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '')

function digitsOf(text: string): string | null {
  const digits = text.replace(/\D/g, '')
  return digits.length >= DIGITS_MIN ? digits : null
}

/** An amount in either notation: three digits behind the only point or comma may be thousands or decimals. */
function amounts(text: string): Pick<Words, 'brlCentavos' | 'usdcUnits'> {
  const [, before, number = '', behind] = AMOUNT.exec(text) ?? []
  const decimals = [asDecimal(number, '.'), asDecimal(number, ',')].filter(decimal => decimal !== null)
  const currency = before ?? behind
  const isBrl = currency === undefined || ['r$', 'brl', 'reais'].includes(currency)
  return {
    brlCentavos: isBrl ? decimals.filter(decimal => /^\d{1,12}(\.\d{1,2})?$/.test(decimal)).map(parseBrl) : [],
    usdcUnits: isBrl && currency !== undefined ? [] : decimals.filter(decimal => /^\d{1,12}(\.\d{1,6})?$/.test(decimal)).map(parseUsdc),
  }
}

/** The number with this point before its decimals and the other one between its thousands; null when it is not written so. */
function asDecimal(number: string, point: '.' | ','): string | null {
  const thousands = point === '.' ? ',' : '\\.'
  const shape = new RegExp(`^(\\d+|\\d{1,3}(${thousands}\\d{3})+)(\\${point}\\d+)?$`)
  if (!shape.test(number)) return null
  return number.replace(new RegExp(thousands, 'g'), '').replace(point, '.')
}
