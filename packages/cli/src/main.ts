#!/usr/bin/env node
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { isPonteError } from '@ponte/sdk'
import { MisuseError } from './profile'
import { createProgram } from './program'

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())

/** Asked on the error stream, so that what is piped stays output. The answer is a secret: a terminal does not show it. */
const askSecret = (question: string) =>
  new Promise<string>(resolve => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true })
    // Only now, because the terminal shows what is typed before.
    process.stderr.write(question)
    const answered = (answer: string) => {
      lines.close()
      process.stderr.write('\n')
      resolve(answer.trim())
    }
    lines.once('line', answered)
    // Ctrl-C, which a terminal in raw mode hands over as a character.
    lines.once('SIGINT', () => {
      lines.close()
      process.stderr.write('\n')
      process.exit(130)
    })
  })

const onLine = (callback: (line: string) => void) => {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', callback)
  ending.signal.addEventListener('abort', () => lines.close())
}

const { env, stdout, stderr } = process
createProgram({ env, home: homedir(), cwd: process.cwd(), stdout, stderr, askSecret, signal: ending.signal, onLine })
  .parseAsync(process.argv)
  .catch((error: unknown) => {
    const request = isPonteError(error) && error.requestId ? ` (request ${error.requestId})` : ''
    const advice = isPonteError(error, 'forbidden') ? ' Take a named key with the scope, or run: ponte login --user you@example.com' : ''
    stderr.write(`${isPonteError(error) ? error.detail : error instanceof Error ? error.message : String(error)}${advice}${request}\n`)
    process.exitCode = error instanceof MisuseError ? 2 : 1
  })
