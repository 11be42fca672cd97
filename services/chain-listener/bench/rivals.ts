import { PAYMENT_RECEIVED_TOPIC, paymentRouterAbi } from '@ponte/payment-router'
import { Contract, JsonRpcProvider } from 'ethers'
import { Pool } from 'undici'
import { decodePayment } from '../src/logs/payment-received'
import type { RawLog } from '../src/rpc/raw-log'
import type { Chain } from '../test/chain'

const hex = (value: number) => `0x${value.toString(16)}`

/** The limit: `eth_getLogs` by ranges over one kept-alive connection, JSON.parse, our decoder, and nothing kept. */
export async function bareLoop(chain: Chain, height: number, blocks: number): Promise<{ payments: number }> {
  const pool = new Pool(chain.anvil.rpcUrl, { connections: 1 })
  let count = 0
  for (let from = 0; from <= height; from += blocks) {
    const range = { fromBlock: hex(from), toBlock: hex(Math.min(height, from + blocks - 1)) }
    const params = [{ ...range, address: chain.emitter, topics: [PAYMENT_RECEIVED_TOPIC] }]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
    const answer = await pool.request({ method: 'POST', path: '/', headers: { 'content-type': 'application/json' }, body })
    const { result } = JSON.parse(await answer.body.text()) as { result: RawLog[] }
    for (const log of result) if (decodePayment(log).amount > 0n) count++
  }
  await pool.destroy()
  return { payments: count }
}

/** Ethers' own transport and decoder, as most listeners use them. */
export async function queryFilter(chain: Chain, height: number, blocks: number): Promise<{ payments: number }> {
  const provider = new JsonRpcProvider(chain.anvil.rpcUrl, undefined, { staticNetwork: true })
  const router = new Contract(chain.emitter, paymentRouterAbi, provider)
  let count = 0
  for (let from = 0; from <= height; from += blocks)
    count += (await router.queryFilter('PaymentReceived', from, Math.min(height, from + blocks - 1))).length
  provider.destroy()
  return { payments: count }
}
