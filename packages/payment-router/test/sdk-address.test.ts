import { createHash, randomBytes } from 'node:crypto'
import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { Interface, keccak256 as reference } from 'ethers'
import { depositAddress } from '../../sdk/src/address/deposit'
import { keccak256 } from '../../sdk/src/address/keccak'

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`

test('a hash is the one that ethers makes, for every length around its block of 136 bytes', () => {
  for (const length of [0, 1, 64, 85, 135, 136, 137, 271, 272, 273, 5_000]) {
    const data = createHash('shake256', { outputLength: Math.max(1, length) })
      .update(String(length))
      .digest()
      .subarray(0, length)
    expect(hex(keccak256(data))).toBe(reference(data))
  }
})

describe('a deposit address', () => {
  let chain: LocalChain
  beforeAll(async () => {
    chain = await startLocalChain()
  }, 120_000)
  afterAll(() => chain.stop())

  /** The contract's own answers. PONTE_TEST_ADDRESSES for more of them: 10,000 take a minute. */
  const ADDRESSES = Number(process.env.PONTE_TEST_ADDRESSES ?? 300)

  test(`is the one that the contract answers, for ${ADDRESSES} memos and payout addresses`, async () => {
    const router = new Interface(['function depositAddress(bytes32 memo, address merchant) view returns (address)'])
    const terms = Array.from({ length: ADDRESSES }, () => ({ memo: randomBytes(32).toString('hex'), payoutAddress: hex(randomBytes(20)) }))
    for (let from = 0; from < terms.length; from += 500) {
      const some = terms.slice(from, from + 500)
      const body = some.map(({ memo, payoutAddress }, id) => ({
        ...{ jsonrpc: '2.0', id, method: 'eth_call' },
        params: [{ to: chain.routerAddress, data: router.encodeFunctionData('depositAddress', [`0x${memo}`, payoutAddress]) }, 'latest'],
      }))
      const headers = { 'Content-Type': 'application/json' }
      const answer = await fetch(chain.rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) })
      const results = (await answer.json()) as { id: number; result: string }[]
      expect(some.map(each => depositAddress({ router: chain.routerAddress, ...each }))).toEqual(
        results.toSorted((a, b) => a.id - b.id).map(({ result }) => `0x${result.slice(26).toLowerCase()}`),
      )
    }
  }, 300_000)
})
