import type { EntryBody } from '@ponte/contracts'
import { movement, OFX_END, ofxStart, statementEnd, statementStart } from './ofx'

const entry: EntryBody = {
  ...{ object: 'entry', sequence: 12, cursor: '12-9f86d081884c7d65', kind: 'settled', amount: '99.000000', brl_amount: '536.58' },
  ...{ from_account: 'received', to_account: 'payout', order_id: 'o', reverses: null, reason: null },
  ...{ at: '2028-03-01T02:59:59.999Z', block_time: '2028-03-01T02:59:59.999Z', booked_at: '2028-03-01T02:59:59.999Z' },
  ...{
    chain_id: 8453,
    tx_hash: '0x1',
    log_index: 0,
    block_number: 1,
    market_rate: null,
    market_brl_amount: null,
    ptax_rate: null,
    ptax_date: null,
    payer_address: null,
    address: null,
  },
}
const field = (text: string, name: string) => new RegExp(`<${name}>([^\r]*)`).exec(text)?.[1]

test('a movement is a credit on the civil day of São Paulo, and is known by the entry in its epoch', () => {
  const text = movement(entry)
  expect(['TRNTYPE', 'DTPOSTED', 'TRNAMT', 'FITID', 'MEMO'].map(name => field(text, name))).toEqual([
    ...['CREDIT', '20280229235959[-3:BRT]', '99.000000', '12-9f86d081884c7d65', 'BRL 536.58 o 0x1'],
  ])
})

test.each([
  ['what went back', { kind: 'returned', amount: '5.000000' }, 'DEBIT', '-5.000000'],
  ['what did not go back after all', { kind: 'returned', amount: '-5.000000', reverses: 7 }, 'CREDIT', '5.000000'],
  ['what a reorganisation took back', { amount: '-99.000000', reverses: 7 }, 'DEBIT', '-99.000000'],
] as const)('%s is a movement of its own', (_, change, type, amount) => {
  const text = movement({ ...entry, ...change })
  expect([field(text, 'TRNTYPE'), field(text, 'TRNAMT')]).toEqual([type, amount])
})

test('a reason can neither end its line nor open a tag, and is ASCII', () => {
  const text = movement({ ...entry, reason: 'Devolução\r\n</STMTTRN><OFX> & ✓' })
  expect(field(text, 'MEMO')).toBe('BRL 536.58 o 0x1 Devolucao &lt;/STMTTRN&gt;&lt;OFX&gt; &amp;')
  expect(text.match(/<STMTTRN>/g)).toHaveLength(1)
})

test('an account is named within the lengths of OFX, and no part of its address is lost', () => {
  const address = `0x${'0123456789abcdef'.repeat(3).slice(0, 40)}`
  const account = { chainId: 8453, address, from: new Date(0), to: new Date(1_000), units: -1n }
  const text = ofxStart(new Date(0)) + statementStart(account) + statementEnd(account) + OFX_END
  const [id = '', branch = ''] = ['ACCTID', 'BRANCHID'].map(name => field(text, name))
  expect([id.length <= 22, branch.length <= 22, id + branch]).toEqual([true, true, address])
  expect([field(text, 'CURDEF'), field(text, 'BALAMT')]).toEqual(['USD', '-0.000001'])
})
