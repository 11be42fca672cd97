/**
 * Where a spreadsheet would take what follows for a formula, also behind blanks and in its full-width form: at the beginning of a cell, and behind what
 * spreadsheets of some countries take for the end of one. Blanks behind such an end are looked at up to the next one, so that a text of many ends is read once.
 */
const FORMULA = /^(?=\s*[=+\-@\t\r＝＋－＠])|(?<=[;\t\r\n])(?=[^\S;\t\r\n]*[=+\-@＝＋－＠])/g

/** One line of RFC 4180. A text that a spreadsheet would evaluate begins with an apostrophe. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(cell => csvCell(cell ?? '')).join(',')}\r\n`

function csvCell(text: string): string {
  const safe = text.replace(FORMULA, "'")
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
