const NUMBER = /^-?\d+([.,]\d+)?$/

/**
 * Where a spreadsheet would take what follows for a formula, also behind blanks and in its full-width form: at the beginning of a cell, and behind what
 * spreadsheets of some countries take for the end of one. Blanks behind such an end are looked at up to the next one, so that a text of many ends is read once.
 */
const FORMULA = /^(?=\s*[=+\-@\t\r＝＋－＠])|(?<=[;\t\r\n])(?=[^\S;\t\r\n]*[=+\-@＝＋－＠])/g

/** Spreadsheets of countries with decimal commas take semicolons. */
export type CsvSeparator = ',' | ';'

/** One line of RFC 4180. A text that a spreadsheet would evaluate begins with an apostrophe. */
export const csvLine = (cells: readonly (string | null)[], separator: CsvSeparator = ','): string =>
  `${cells.map(cell => csvCell(cell ?? '', separator)).join(separator)}\r\n`

/** A text as no spreadsheet evaluates it. A negative number is itself, evaluated or not. */
export const guardedText = (text: string): string => (NUMBER.test(text) ? text : text.replace(FORMULA, "'"))

function csvCell(text: string, separator: CsvSeparator): string {
  const safe = guardedText(text)
  return /["\r\n]/.test(safe) || safe.includes(separator) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
