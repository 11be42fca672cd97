import { execFileSync } from 'node:child_process'

const READ = `
import { readFileSync } from 'node:fs'
import { extractText, getDocumentProxy } from 'unpdf'
const document = await getDocumentProxy(new Uint8Array(readFileSync(process.argv[1])))
const { text } = await extractText(document)
process.stdout.write(JSON.stringify(text))`

/** The text of each page, by the reader of Firefox, in a process of its own: it is an ES module alone. */
export const pdfText = (path: string): string[] =>
  JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', READ, path], {
      ...{ cwd: __dirname, encoding: 'utf8', maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'] },
    }),
  )
