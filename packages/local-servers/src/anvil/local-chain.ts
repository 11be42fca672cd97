import { type DeployedContracts, deployContracts, deployRouter, paymentRouterAbi, testUsdcAbi } from '@ponte/payment-router'
import { Contract, JsonRpcProvider, MaxUint256, Network, type TransactionReceipt, type TransactionResponse, Wallet } from 'ethers'
import { type AnvilOptions, startAnvil } from './anvil'
import { testAccounts } from './test-accounts'

export interface Payment {
  /** 0x and 64 hex. */
  memo: string
  merchant: string
  /** In token units (10⁻⁶), fee included. */
  amount: bigint
}

export interface LocalChain extends DeployedContracts {
  rpcUrl: string
  wsUrl: string
  chainId: number
  feeBps: number
  feeReceiver: string
  provider: JsonRpcProvider
  /** One of the ten test accounts, or the account of a private key. */
  wallet(account: number | string): Wallet
  mine(blocks?: number): Promise<void>
  /** Replaces the last `depth` blocks by empty ones: their transactions are gone. */
  reorg(depth: number): Promise<void>
  /** Unix seconds; must be later than the head's time. */
  setNextBlockTimestamp(seconds: number): Promise<void>
  /** The head's time in Unix seconds. */
  now(): Promise<number>
  /** USDC of an account, in token units. */
  balanceOf(account: string): Promise<bigint>
  mintUsdc(to: string, amount: bigint): Promise<TransactionResponse>
  /** A plain transfer, as to a deposit address. */
  transferUsdc(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse>
  /** A transfer, and with the next transaction of the same wallet the token's issuer blocks the receiver. Resolves when both are sent, to the transfer. */
  transferAndBlock(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse>
  /** Approves the router once, then pays through it. Like the others it resolves when sent, so a chain that mines on demand may wait. */
  pay(payer: Wallet, payment: Payment): Promise<TransactionResponse>
  sweep(submitter: Wallet, of: { memo: string; merchant: string }): Promise<TransactionResponse>
  stop(): Promise<void>
}

/** A provider for tests: remembers no answer (two transactions in a row would get the same nonce), looks often and waits for no batch. */
export function openProvider(rpcUrl: string, chainId: number): JsonRpcProvider {
  // Named by its id alone: ethers asks a gas station of the real network for prices on some known chains.
  return new JsonRpcProvider(rpcUrl, new Network('local', chainId), {
    staticNetwork: true,
    batchMaxCount: 1,
    cacheTimeout: -1,
    pollingInterval: 20,
  })
}

/** Waits until a transaction is mined. Rejects when it reverted. */
export async function mined(sent: Promise<TransactionResponse> | TransactionResponse): Promise<TransactionReceipt> {
  const receipt = await (await sent).wait()
  if (receipt === null) throw new Error('a transaction was mined without a receipt')
  return receipt
}

// An estimate would refuse a transaction whose forerunner is not mined yet.
const GAS = { gasLimit: 500_000 }

/** Acts of a test, or of a developer, with token and router on a chain of test accounts. */
export function chainActions(
  provider: JsonRpcProvider,
  { usdcAddress, routerAddress }: Pick<DeployedContracts, 'usdcAddress' | 'routerAddress'>,
) {
  const usdc = new Contract(usdcAddress, testUsdcAbi)
  const router = new Contract(routerAddress, paymentRouterAbi)
  const send = (contract: Contract, signer: Wallet, method: string, ...values: unknown[]): Promise<TransactionResponse> =>
    contract
      .connect(signer)
      .getFunction(method)
      .send(...values, GAS)
  const wallet = (account: number | string): Wallet => {
    const key = typeof account === 'string' ? account : testAccounts[account]?.privateKey
    if (key === undefined) throw new RangeError(`there is no test account ${account}`)
    return new Wallet(key, provider)
  }
  return {
    wallet,
    balanceOf: (account: string): Promise<bigint> => usdc.connect(provider).getFunction('balanceOf').staticCall(account),
    mintUsdc: (to: string, amount: bigint) => send(usdc, wallet(0), 'mint', to, amount),
    transferUsdc: (payer: Wallet, to: string, amount: bigint) => send(usdc, payer, 'transfer', to, amount),
    async transferAndBlock(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse> {
      const nonce = await payer.getNonce('pending')
      const token = usdc.connect(payer)
      // Sent together, so that no sweep comes between them.
      const [transfer] = await Promise.all([
        token.getFunction('transfer').send(to, amount, { ...GAS, nonce }),
        token.getFunction('setBlacklisted').send(to, true, { ...GAS, nonce: nonce + 1 }),
      ])
      return transfer
    },
    async pay(payer: Wallet, { memo, merchant, amount }: Payment) {
      const allowed: bigint = await usdc
        .connect(provider)
        .getFunction('allowance')
        .staticCall(payer.address, routerAddress, { blockTag: 'pending' })
      if (allowed < amount) await send(usdc, payer, 'approve', routerAddress, MaxUint256)
      return send(router, payer, 'pay', memo, merchant, amount)
    },
    sweep: (submitter: Wallet, { memo, merchant }: { memo: string; merchant: string }) => send(router, submitter, 'sweep', memo, merchant),
  }
}

export interface LocalChainOptions extends AnvilOptions {
  feeBps?: number
  feeReceiver?: string
  /** From an earlier start; used again when the chain of `stateFile` still has it. */
  deployed?: DeployedContracts | undefined
}

/**
 * Starts anvil, deploys the contracts from test account 0 and gives what a test does with them.
 * The fee is 1 % to test account 1 unless given otherwise.
 */
export async function startLocalChain(options: LocalChainOptions = {}): Promise<LocalChain> {
  const { feeBps = 100, feeReceiver = testAccounts[1].address, noMining = false, deployed: known, ...anvilOptions } = options
  const anvil = await startAnvil(anvilOptions)
  const provider = openProvider(anvil.rpcUrl, anvil.chainId)
  const stop = async (): Promise<void> => {
    provider.destroy()
    await anvil.stop()
  }
  try {
    const signer = await provider.getSigner(0)
    const stands = known !== undefined && (await provider.getCode(known.usdcAddress)) !== '0x'
    const deployed = stands
      ? { ...known, routerAddress: await deployRouter(signer, { usdcAddress: known.usdcAddress, feeBps, feeReceiver }) }
      : await deployContracts(signer, { feeBps, feeReceiver })
    if (noMining) await provider.send('evm_setAutomine', [false])
    return {
      ...deployed,
      ...chainActions(provider, deployed),
      ...{ rpcUrl: anvil.rpcUrl, wsUrl: anvil.wsUrl, chainId: anvil.chainId, feeBps, feeReceiver, provider, stop },
      mine: blocks => provider.send('anvil_mine', [blocks ?? 1]),
      reorg: depth => provider.send('anvil_reorg', [depth, []]),
      setNextBlockTimestamp: seconds => provider.send('evm_setNextBlockTimestamp', [seconds]),
      now: async () => (await provider.getBlock('latest'))?.timestamp ?? 0,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
