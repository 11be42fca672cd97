import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HeaderForm, isSealed, type ReceiptForm, receiptsRoot } from '@ponte/payment-router'
import type { RawReceipt } from '../../src/logs/receipts'

interface Recorded {
  name: string
  form: HeaderForm
  header: Record<string, unknown>
}

// As nodes of these chains answered eth_getBlockByNumber: from end points' public documentation, a public collection of answers, and a client's tests.
const recorded: Recorded[] = JSON.parse(readFileSync(join(__dirname, '../recorded/headers.json'), 'utf8'))

describe('a header as a node of its chain has sent it', () => {
  it.each(recorded)('hashes to its hash: $name', ({ form, header }) => {
    expect(isSealed(header, form)).toBe(true)
    expect(isSealed({ ...header, x: '0x1' }, form)).toBe(true)
  })

  it.each(recorded)('does not with another root of receipts, time or hash: $name', ({ form, header }) => {
    for (const [field, value] of Object.entries({ receiptsRoot: header.stateRoot, timestamp: '0x6a044ec2', hash: header.parentHash }))
      expect(isSealed({ ...header, [field]: value }, form)).toBe(false)
  })

  it.each(recorded.filter(({ header }) => 'requestsHash' in header && !('slotNumber' in header)))(
    'does without the hash of no requests, which some nodes leave out: $name',
    ({ form, header: { requestsHash: _, ...header } }) => {
      expect(isSealed(header, form)).toBe(true)
    },
  )
})

interface RecordedReceipts {
  name: string
  form: ReceiptForm
  root: string
  receipts: RawReceipt[]
}

// Of a client's tests, in the form of eth_getBlockReceipts; their blooms follow from their logs. A block that holds one deposit alone follows from its header.
const blocks: RecordedReceipts[] = JSON.parse(readFileSync(join(__dirname, '../recorded/receipts.json'), 'utf8'))

describe('the receipts of a block of the OP stack', () => {
  it.each(blocks)('hash to the root in its header: $name', ({ form, root, receipts }) => {
    expect(receiptsRoot(receipts, form)).toBe(root)
    expect(receiptsRoot(receipts, 'ethereum')).toBeUndefined()
    expect(receiptsRoot([...receipts, ...receipts.slice(-1)], form)).not.toBe(root)
    for (const index of receipts.keys())
      expect(
        receiptsRoot(
          receipts.map((one, place) => (place === index ? { ...one, status: '0x0' } : one)),
          form,
        ),
      ).not.toBe(root)
  })
})
