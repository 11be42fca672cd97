import { type Anvil, type AnvilOptions, startAnvil, testAccounts } from '@ponte/local-servers'
import { PAYMENT_RECEIVED_TOPIC, paymentRouterAbi } from '@ponte/payment-router'
import { Interface, Wallet } from 'ethers'

/** Everything is free, because the emitter believes every caller. */
export interface Record {
  memo: string
  merchant?: string
  payer?: string
  share?: bigint
  fee?: bigint
  /** Emitted in blocks of even number only, of odd number only, or in both: one transaction may pay differently in another block. */
  parity?: 'even' | 'odd'
}

export interface Truth {
  tx: string
  block: string
  memo: string
  /** Gross. */
  amount: string
}

interface Log {
  topics: string[]
  data: string
  transactionHash: string
  blockHash: string
}

const abi = new Interface(paymentRouterAbi)

export type Chain = Awaited<ReturnType<typeof startChain>>

const word = (value: string | bigint) => (typeof value === 'bigint' ? value.toString(16) : value.replace(/^0x/, '')).padStart(64, '0')
export const memoOf = (n: number) => n.toString(16).padStart(64, '0')

/**
 * Machine code of a contract that emits `PaymentReceived` for every 192 bytes it is called with (memo, merchant, payer, share, fee, parities):
 * one transaction may hold many payments, without tokens or approvals.
 */
function emitterCode(): string {
  const loop = [
    '5f5b', // i = 0; loop:
    '8036111560EE57', // while i < calldatasize
    '8060a00135436001161c6001161560SS57', // unless (parities >> (block & 1)) & 1, skip:
    '6040816060015f37', // memory = the 64 bytes of share and fee
    '806040013581602001358235', // payer, merchant, memo
    `7f${PAYMENT_RECEIVED_TOPIC.slice(2)}60405fa4`, // log4
    '5b60c001600156', // skip: i += 192; again
  ].join('')
  const byte = (chars: number) => (chars / 2).toString(16).padStart(2, '0')
  const code = `${loop.replace('EE', byte(loop.length)).replace('SS', byte(loop.length - 14))}5b00`
  return `0x60${byte(code.length)}8060095f395ff3${code}`
}

/** anvil with an emitter in place of a router. Blocks are mined when the test asks for it, unless `options` are others. */
export async function startChain(options: AnvilOptions = { noMining: true }) {
  const anvil: Anvil = await startAnvil(options)
  const rpc = async <T = unknown>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await fetch(anvil.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const answer = (await response.json()) as { result?: T; error?: { message: string } }
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result as T
  }
  const mine = async (blocks = 1) => void (await rpc('anvil_mine', `0x${blocks.toString(16)}`))
  const from = testAccounts[0].address
  const send = (fields: { to?: string; data: string; from?: string; nonce?: string }) =>
    rpc<string>('eth_sendTransaction', { from, gas: '0x1000000', ...fields })
  const deploy = async () => {
    const created = await send({ data: emitterCode() })
    await mine()
    return (await rpc<{ contractAddress: string }>('eth_getTransactionReceipt', created)).contractAddress
  }
  const emitter = await deploy()
  return {
    anvil,
    rpc,
    mine,
    emitter,
    /** Another emitter, in place of another router. */
    deploy,
    /** Sends one transaction that makes these payments; it waits for the next block. Answers its hash. */
    pay: (records: readonly Record[], account = 1, to = emitter) =>
      send({ to, from: testAccounts[account]?.address ?? from, data: dataOf(records) }),
    height: async () => Number(await rpc<string>('eth_blockNumber')),
    /** Replaces the last blocks: they are gone, with everything in them. */
    rollback: (depth: number) => rpc('anvil_rollback', depth),
    /** The chain's own statement, decoded by ethers, up to a block. */
    async truth(upTo: number): Promise<Truth[]> {
      const toBlock = `0x${upTo.toString(16)}`
      const logs = await rpc<Log[]>('eth_getLogs', { address: emitter, topics: [PAYMENT_RECEIVED_TOPIC], fromBlock: '0x0', toBlock })
      return logs.map(log => {
        const args = abi.parseLog(log)?.args
        return {
          tx: log.transactionHash,
          block: log.blockHash,
          memo: String(args?.memo).slice(2),
          amount: String(args?.merchantShare + args?.fee),
        }
      })
    },
    /** Signs a payment for one nonce; the same bytes may be mined again after a rollback. */
    sign: (records: readonly Record[], account: number, nonce: number) =>
      new Wallet(testAccounts[account]?.privateKey ?? '').signTransaction({
        type: 0,
        to: emitter,
        data: dataOf(records),
        nonce,
        gasLimit: 1_000_000,
        gasPrice: 2_000_000_000,
        chainId: anvil.chainId,
      }),
    broadcast: (raw: string) => rpc<string>('eth_sendRawTransaction', raw),
    nonce: async (account: number) => Number(await rpc<string>('eth_getTransactionCount', testAccounts[account]?.address, 'pending')),
    stop: anvil.stop,
  }
}

export const dataOf = (records: readonly Record[]) =>
  `0x${records
    .map(
      ({ memo, merchant = `0x${'aa'.repeat(20)}`, payer = `0x${'bb'.repeat(20)}`, share = 990_000n, fee = 10_000n, parity }) =>
        word(memo) + word(merchant) + word(payer) + word(share) + word(fee) + word(parity === 'even' ? 1n : parity === 'odd' ? 2n : 3n),
    )
    .join('')}`
