import { type RawReceipt, receiptsRoot } from '@ponte/payment-router'
import { encodeRlp, type JsonRpcProvider, keccak256 } from 'ethers'
import type { ChainReader } from './chain-reader'
import { type BlockToProve, isOnRecord, NotProvenError, proveTransactions, toReceipts } from './receipt-proof'
import { readProofs } from './receipts'

const word = (byte: string) => `0x${byte.repeat(32)}`
const ETHEREUM = { header: 'ethereum', receipts: 'ethereum' } as const
const receipt = (hash: string, index: number, logs: number): RawReceipt => ({
  ...{ type: '0x2', status: '0x1', cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`, logsBloom: `0x${'0'.repeat(512)}` },
  logs: Array.from({ length: logs }, () => ({ address: `0x${'0a'.repeat(20)}`, topics: [word('0b')], data: word('0c') })),
  ...{ transactionHash: hash, transactionIndex: `0x${index.toString(16)}` },
})

function sealed(receipts: readonly RawReceipt[]) {
  const header = {
    ...{
      parentHash: word('01'),
      sha3Uncles: word('02'),
      miner: `0x${'03'.repeat(20)}`,
      stateRoot: word('04'),
      transactionsRoot: word('05'),
    },
    ...{ receiptsRoot: String(receiptsRoot(receipts, 'ethereum')), logsBloom: `0x${'0'.repeat(512)}`, difficulty: '0x', number: '0x07' },
    ...{ gasLimit: '0x10', gasUsed: '0x10', timestamp: '0x692a1b00', extraData: '0x', mixHash: word('06'), nonce: `0x${'0'.repeat(16)}` },
  }
  const hash = keccak256(encodeRlp(Object.values(header)))
  return { ...header, difficulty: '0x0', number: '0x7', hash, transactions: receipts.map(({ transactionHash }) => transactionHash) }
}

const hashes = ['a1', 'a2', 'a3'].map(word)
const receipts = hashes.map((hash, index) => receipt(hash, index, index + 1))
const raw = sealed(receipts)
const block: BlockToProve = { number: 7, hash: raw.hash, transactions: [hashes[1] ?? '', hashes[2] ?? ''] }

test('a transaction is proven by the nodes from the root to its receipt', () => {
  expect(proveTransactions(block, raw, receipts, ETHEREUM)).toMatchObject([
    { tx_hash: hashes[1], block_hash: raw.hash, block_number: 7, proof: { receipt_index: 1, first_log_index: 1 } },
    { tx_hash: hashes[2], proof: { receipt_index: 2, first_log_index: 3 } },
  ])
})

test('on a chain whose headers cannot be held against their hashes there is none', () => {
  expect(proveTransactions(block, raw, null, { ...ETHEREUM, header: null })).toMatchObject([{ proof: null }, { proof: null }])
})

test.each<[string, () => unknown]>([
  ['a field of the header is changed', () => proveTransactions(block, { ...raw, stateRoot: word('ff') }, receipts, ETHEREUM)],
  ['a receipt is left out', () => proveTransactions(block, raw, receipts.slice(0, 2), ETHEREUM)],
  ['a log is changed', () => proveTransactions(block, raw, receipts.with(1, receipt(hashes[1] ?? '', 1, 5)), ETHEREUM)],
  ['the receipts are in another order', () => proveTransactions(block, raw, receipts.toReversed(), ETHEREUM)],
  [
    'a receipt bears the hash of another transaction',
    () => proveTransactions(block, raw, receipts.with(1, { ...receipt('', 1, 2), transactionHash: word('ee') }), ETHEREUM),
  ],
  ['the transaction stands elsewhere', () => proveTransactions({ ...block, transactions: [word('ee')] }, raw, receipts, ETHEREUM)],
  ['it is no list of receipts', () => toReceipts([{ logs: 7 }])],
])('nothing is proven where %s', (_what, work) => expect(work).toThrow(NotProvenError))

test('the block is the one on record, by its hash and its number', () => {
  expect(isOnRecord(raw, block)).toBe(true)
  for (const other of [null, { ...raw, hash: word('ee') }, { ...raw, number: '0x8' }]) expect(isOnRecord(other, block)).toBe(false)
})

describe('asked of nodes', () => {
  const node = (answers: Record<string, unknown>) =>
    ({
      async send(method: string) {
        if (!(method in answers)) throw new Error(`${method} is not known`)
        return answers[method]
      },
    }) as unknown as JsonRpcProvider
  const reader = (...nodes: JsonRpcProvider[]): ChainReader => ({
    async ask(question) {
      let failure: unknown
      for (const each of nodes) {
        try {
          return await question(each)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
  })
  const honest = node({ eth_getBlockByNumber: raw, eth_getBlockReceipts: receipts })
  const liars = [
    node({ eth_getBlockByNumber: null }),
    node({ eth_getBlockByNumber: sealed(receipts.slice(0, 2)), eth_getBlockReceipts: receipts.slice(0, 2) }),
    node({ eth_getBlockByNumber: raw, eth_getBlockReceipts: receipts.slice(0, 2) }),
    node({}),
  ]

  test.each(liars.map((one, index) => [index, one] as const))('node %i proves nothing, and the next one does', async (_index, liar) => {
    await expect(readProofs(reader(liar), ETHEREUM, block)).rejects.toThrow()
    await expect(readProofs(reader(liar, honest), ETHEREUM, block)).resolves.toMatchObject([
      { proof: { receipt_index: 1 } },
      { proof: { receipt_index: 2 } },
    ])
  })

  test('receipts that no node gives at once are asked for one by one', async () => {
    let next = 0
    const one = {
      send: async (method: string) =>
        method === 'eth_getBlockByNumber' ? raw : method === 'eth_getTransactionReceipt' ? receipts[next++] : null,
    }
    await expect(readProofs(reader(one as unknown as JsonRpcProvider), ETHEREUM, block)).resolves.toHaveLength(2)
  })
})
