import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { requireProgram } from '@ponte/local-servers'
import { depositAddress } from '@ponte/payment-router'
import { addressCode } from '../src/docs/guide/address-code'

test('the Python of the documents answers the addresses of the contract', async () => {
  const hex = (length: number) => `0x${randomBytes(length).toString('hex')}`
  const all = Array.from({ length: 50 }, () => ({ router: hex(20), memo: hex(32), merchant: hex(20) }))
  const calls = all.map(({ router, memo, merchant }) => `print(deposit_address("${router}", "${memo}", "${merchant}"))`)
  const output = execFileSync(await requireProgram('python3', 'python3', 'the test of what /docs/payments shows'), ['-'], {
    input: `${addressCode}\n${calls.join('\n')}\n`,
    encoding: 'utf8',
  })
  expect(output.trim().split('\n')).toEqual(all.map(of => depositAddress(of).toLowerCase()))
})
