import { MalformedLogError } from './payment-received'
import { hasUncoveredReceipt, type RawReceipt, receiptsRoot, toReceipts } from './receipts'

const receipt = (change: Partial<RawReceipt> = {}): RawReceipt => ({
  type: '0x2',
  status: '0x1',
  cumulativeGasUsed: '0x5208',
  logsBloom: `0x${'0'.repeat(512)}`,
  logs: [],
  transactionHash: `0x${'ab'.repeat(32)}`,
  transactionIndex: '0x0',
  ...change,
})

describe('the root of receipts', () => {
  it('of none is that of an empty trie', async () => {
    expect(await receiptsRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  it('covers order, type, outcome, gas and logs', async () => {
    const log = { address: `0x${'01'.repeat(20)}`, topics: [`0x${'02'.repeat(32)}`], data: '0x03' } as unknown as RawReceipt['logs'][number]
    const roots = await Promise.all(
      [
        [receipt()],
        [receipt(), receipt({ status: '0x0' })],
        [receipt({ status: '0x0' }), receipt()],
        [receipt({ type: '0x0' })],
        [receipt({ status: '0x0' })],
        [receipt({ cumulativeGasUsed: '0x5209' })],
        [receipt({ logs: [log] })],
        [receipt({ logs: [{ ...log, data: '0x04' }] })],
        [receipt({ logs: [log, log] })],
        [receipt({ type: '0x7e', depositNonce: '0x1' })],
        [receipt({ type: '0x7e', depositNonce: '0x1', depositReceiptVersion: '0x1' })],
      ].map(receiptsRoot),
    )
    expect(new Set(roots).size).toBe(roots.length)
    expect(roots).not.toContain(undefined)
  })

  it('is not known for a type that is not', async () => {
    expect(await receiptsRoot([receipt({ type: '0x7f' })])).toBeUndefined()
  })

  it('cannot cover what a bridge adds', () => {
    const zero = `0x${'0'.repeat(40)}`
    expect(hasUncoveredReceipt([receipt(), receipt({ from: zero, to: zero, gasUsed: '0x0' })])).toBe(true)
    expect(hasUncoveredReceipt([receipt({ from: zero, to: null, gasUsed: '0x0' })])).toBe(false)
  })
})

it('refuses what is no list of receipts', () => {
  for (const wrong of [null, {}, [1], [{ ...receipt(), logs: null }], [{ ...receipt(), transactionHash: '0x' }]])
    expect(() => toReceipts(wrong)).toThrow(MalformedLogError)
})
