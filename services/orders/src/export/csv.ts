/** Cells that a spreadsheet would take for a formula, also behind blanks and in their full-width forms. */
const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/

/** One line of RFC 4180. A text that a spreadsheet would evaluate begins with an apostrophe. */
export const csvLine = (cells: readonly (string | null)[]): string => `${cells.map(cell => csvCell(cell ?? '')).join(',')}\r\n`

function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}
