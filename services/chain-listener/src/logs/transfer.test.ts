import fc from 'fast-check'
import { MalformedLogError } from './payment-received'
import { decodeTransfer, TRANSFER_TOPIC, toDeposits, topicOf } from './transfer'

const token = `0x${'a0'.repeat(20)}`
const address = `0x${'0d'.repeat(20)}`
const payer = `0x${'0c'.repeat(20)}`
const deposit = { address, memo: 'c0'.repeat(32), merchant: `0x${'02'.repeat(20)}`, router: `0x${'01'.repeat(20)}` }
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
const log = (fields: object = {}) => ({
  address: token,
  topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(address)],
  data: word(10_000_000n),
  blockHash: word(7n),
  blockNumber: '0x10',
  transactionHash: word(8n),
  logIndex: '0x2',
  ...fields,
})
const decode = (fields?: object) => toDeposits([decodeTransfer(log(fields), token)], new Map([[address, deposit]]))[0]

describe('a transfer of the token', () => {
  it('to a deposit address is a payment of its order, of all that was sent, by whom the log names', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), amount => {
        const { memo, merchant, router } = deposit
        const payment = decode({ data: word(amount) })
        expect(payment).toMatchObject({ kind: 'transfer', memo, merchant, router, payer, deposit: address, amount, logIndex: 2 })
      }),
    )
  })

  it.each([
    ['elsewhere', { topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(payer)] }],
    ['of nothing, which anyone may make', { data: word(0n) }],
  ])('%s is none', (_, fields) => {
    expect(decode(fields)).toBeUndefined()
  })

  it.each([
    ['of another token', { address: payer }],
    ['that is another event', { topics: [word(1n), topicOf(payer), topicOf(address)] }],
    ['with its amount as a topic', { topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(address), word(1n)] }],
    ['whose amount is no word', { data: '0x' }],
    ['taken back', { removed: true }],
  ])('%s cannot come from the token', (_, fields) => {
    expect(() => decode(fields)).toThrow(MalformedLogError)
  })
})
