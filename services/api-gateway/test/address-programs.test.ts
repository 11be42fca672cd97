import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireProgram } from '@ponte/local-servers'
import { depositAddress } from '@ponte/payment-router'
import { address } from '../src/docs/guide/programs/address'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-address-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Terms {
  router: string
  memo: string
  merchant: string
}
const inPython = ({ router, memo, merchant }: Terms) => `print(deposit_address("${router}", "${memo}", "${merchant}"))`
const inPhp = ({ router, memo, merchant }: Terms) => `echo deposit_address('${router}', '${memo}', '${merchant}'), PHP_EOL;`

test.each([
  ['Python', 'python3', 'python3', inPython],
  ['PHP', 'php', 'php-cli', inPhp],
] as const)('the %s of the documents answers the addresses of the contract', async (language, program, debianPackage, callOf) => {
  const hex = (length: number) => `0x${randomBytes(length).toString('hex')}`
  const all = Array.from({ length: 50 }, () => ({ router: hex(20), memo: hex(32), merchant: hex(20) }))
  const file = join(folder, `address-of-${language}`)
  writeFileSync(file, `${address[language].trim()}\n${all.map(callOf).join('\n')}\n`)
  const found = await requireProgram(program, debianPackage, 'the test of what /docs/payments shows')
  const output = execFileSync(found, [file], { encoding: 'utf8' })
  expect(output.trim().split('\n')).toEqual(all.map(of => depositAddress(of).toLowerCase()))
})
