import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** The text of each page, read in a process of its own: the reader is an ES module alone. */
export const pdfText = (path: string): string[] =>
  JSON.parse(
    execFileSync(process.execPath, [join(__dirname, 'read-pdf.mjs'), path], {
      ...{ encoding: 'utf8', maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'] },
    }),
  )
