#!/usr/bin/env node
// The compiler that the committed artifacts are made with, behind the command line that Foundry speaks.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const solc = createRequire(import.meta.url)('solc')

if (process.argv.includes('--version')) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`)
} else if (process.argv.includes('--standard-json')) {
  process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
} else {
  console.error('usage: solc.mjs --version | --standard-json')
  process.exitCode = 1
}
