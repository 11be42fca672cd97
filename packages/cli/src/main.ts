#!/usr/bin/env node
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { isPonteError } from '@ponte/sdk'
import { createProgram } from './program'

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

/** Asked on the error stream, so that what is piped stays output. */
const ask = (question: string) =>
  new Promise<string>(resolve => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.question(question, answer => {
      lines.close()
      resolve(answer.trim())
    })
  })

const onLine = (callback: (line: string) => void) => {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', callback)
  ending.signal.addEventListener('abort', () => lines.close())
}

const { env, stdout, stderr } = process
createProgram({ env, home: homedir(), cwd: process.cwd(), stdout, stderr, ask, signal: ending.signal, onLine })
  .parseAsync(process.argv)
  .catch((error: unknown) => {
    const request = isPonteError(error) && error.requestId ? ` (request ${error.requestId})` : ''
    stderr.write(`${isPonteError(error) ? error.detail : error instanceof Error ? error.message : String(error)}${request}\n`)
    process.exitCode = 1
  })
