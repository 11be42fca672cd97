import { type Chain, dataOf, memoOf } from '../test/chain'

const hex = (value: number) => `0x${value.toString(16)}`
const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const PAYMENTS_PER_TRANSACTION = 5

/** Mines blocks full of payments: every memo its own, some hundred merchants, thousands of payers. Answers the height. */
export async function fill(chain: Chain, blocks: number, perBlock: number): Promise<number> {
  let memo = 0
  const record = () => {
    memo++
    return {
      memo: memoOf(memo),
      merchant: addressOf(1_000 + (memo % 300)),
      payer: addressOf(100_000 + (memo % 7_919)),
      share: BigInt(memo),
    }
  }
  const accounts = await chain.rpc<string[]>('eth_accounts')
  for (let block = 0; block < blocks; block++) {
    // One transaction per account: anvil takes a batch in any order, and nonces would collide.
    const calls: unknown[] = []
    for (let left = perBlock; left > 0; left -= PAYMENTS_PER_TRANSACTION) {
      const data = dataOf(Array.from({ length: Math.min(left, PAYMENTS_PER_TRANSACTION) }, record))
      const from = accounts[calls.length]
      calls.push({
        jsonrpc: '2.0',
        id: calls.length,
        method: 'eth_sendTransaction',
        params: [{ from, to: chain.emitter, gas: hex(600_000), data }],
      })
    }
    const response = await fetch(chain.anvil.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    })
    const answers = (await response.json()) as { error?: { message: string } }[]
    const failed = answers.find(answer => answer.error)
    if (failed) throw new Error(`anvil: ${failed.error?.message}`)
    await chain.rpc('evm_mine')
  }
  return chain.height()
}
