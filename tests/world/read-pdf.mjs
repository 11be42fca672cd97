import { readFileSync } from 'node:fs'
import { extractText, getDocumentProxy } from 'unpdf'

// The text of each page of a PDF as JSON, by the reader of Firefox.
const document = await getDocumentProxy(new Uint8Array(readFileSync(process.argv[2])))
const { text } = await extractText(document)
process.stdout.write(JSON.stringify(text))
