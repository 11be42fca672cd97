import { randomBytes } from 'node:crypto'
import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { depositAddress } from '@ponte/sdk'
import { Interface } from 'ethers'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`

/** PONTE_TEST_ADDRESSES for more of them: 10,000 take a minute. */
const ADDRESSES = Number(process.env.PONTE_TEST_ADDRESSES ?? 300)
const AT_ONCE = 500

test(`the SDK works out the deposit address that the contract answers, for ${ADDRESSES} memos and payout addresses`, async () => {
  const router = new Interface(['function depositAddress(bytes32 memo, address merchant) view returns (address)'])
  const terms = Array.from({ length: ADDRESSES }, () => ({ memo: randomBytes(32).toString('hex'), payoutAddress: hex(randomBytes(20)) }))
  for (let from = 0; from < terms.length; from += AT_ONCE) {
    const some = terms.slice(from, from + AT_ONCE)
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
