import { coveredReceipts, receiptsRoot } from '@ponte/payment-router'
import { MalformedLogError } from './payment-received'
import { type RawReceipt, toReceipts } from './receipts'

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
  it('of none is that of an empty trie', () => {
    expect(receiptsRoot([], 'ethereum')).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  it('covers order, type, outcome, gas and logs', () => {
    const log = { address: `0x${'01'.repeat(20)}`, topics: [`0x${'02'.repeat(32)}`], data: '0x03' } as unknown as RawReceipt['logs'][number]
    const roots = [
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
    ].map(receipts => receiptsRoot(receipts, 'op'))
    expect(new Set(roots).size).toBe(roots.length)
    expect(roots).not.toContain(undefined)
  })

  it('is not known for a type that the chain does not have', () => {
    const types = ['0x7e', '0x7f', '0x6a', '0x5']
    const known = (form: Parameters<typeof receiptsRoot>[1]) => types.filter(type => receiptsRoot([receipt({ type })], form) !== undefined)
    expect([known('ethereum'), known('op'), known('polygon'), known('arbitrum')]).toEqual([[], ['0x7e'], ['0x7f'], ['0x6a']])
  })

  it("leaves out what Polygon's bridge added before PIP-74, and nothing else", () => {
    const zero = `0x${'0'.repeat(40)}`
    const bridge = receipt({ type: '0x0', from: zero, to: zero, gasUsed: '0x0' })
    const root = receiptsRoot([receipt()], 'polygon') ?? ''
    expect(coveredReceipts([receipt(), bridge], root, 'polygon')).toEqual([receipt()])
    expect(coveredReceipts([receipt(), bridge], receiptsRoot([receipt(), bridge], 'polygon') ?? '', 'polygon')).toHaveLength(2)
    expect(coveredReceipts([receipt(), bridge], root, 'ethereum')).toBeUndefined()
    expect(coveredReceipts([receipt(), receipt()], root, 'polygon')).toBeUndefined()
  })
})

it('refuses what is no list of receipts', () => {
  for (const wrong of [null, {}, [1], [{ ...receipt(), logs: null }], [{ ...receipt(), transactionHash: '0x' }]])
    expect(() => toReceipts(wrong)).toThrow(MalformedLogError)
})
