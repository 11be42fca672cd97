import {
  type DeployedContracts,
  deployContracts,
  deployRouter,
  paymentRouterAbi,
  receiveWithAuthorizationTypedData,
  testRateFeedAbi,
  testUsdcAbi,
  testUsdcBytecode,
} from '@ponte/payment-router'
import {
  Contract,
  ContractFactory,
  JsonRpcProvider,
  MaxUint256,
  Network,
  type TransactionReceipt,
  type TransactionResponse,
  toBeHex,
  Wallet,
} from 'ethers'
import { type AnvilOptions, startAnvil } from './anvil'
import { pauseProcess } from './pause'
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
  balanceOf(account: string): Promise<bigint>
  mintUsdc(to: string, amount: bigint): Promise<TransactionResponse>
  /** A plain transfer, as to a deposit address. */
  transferUsdc(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse>
  /** A transfer, and with the next transaction of the same wallet the token's issuer blocks the receiver. Resolves when both are sent, to the transfer. */
  transferAndBlock(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse>
  /** Approves the router once, then pays through it. Like the others it resolves when sent, so a chain that mines on demand may wait. */
  pay(payer: Wallet, payment: Payment): Promise<TransactionResponse>
  sweep(submitter: Wallet, of: { memo: string; merchant: string }): Promise<TransactionResponse>
  /** A transfer of another token than the one that routers take; it is deployed when it is first sent. */
  transferForeign(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse>
  /** The payer's signature by which anyone may pay through the router, as `POST …/authorization` takes it. `validBefore` in Unix seconds. */
  signPayment(
    payer: Wallet,
    payment: Payment & { validBefore: number; salt: bigint },
  ): Promise<{ payer_address: string; valid_before: number; salt: string; signature: string }>
  /** Lets the exchange rate be as old as `updatedAt`, in Unix seconds; fresh for ever with 0. */
  setRateTime(updatedAt: number): Promise<void>
  /** From now on blocks are so much later. */
  increaseTime(seconds: number): Promise<void>
  /** Mines nothing until what it answers is called. */
  halt(): Promise<() => Promise<void>>
  /** The node answers nothing for so long; resolves when it has stopped. */
  pauseNode(seconds: number): Promise<void>
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
  { usdcAddress, routerAddress, rateFeedAddress }: Pick<DeployedContracts, 'usdcAddress' | 'routerAddress'> & { rateFeedAddress?: string },
) {
  let foreign: Promise<Contract> | undefined
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
    async transferForeign(payer: Wallet, to: string, amount: bigint): Promise<TransactionResponse> {
      foreign ??= (async () => {
        const deployed = await new ContractFactory(testUsdcAbi, testUsdcBytecode, wallet(0)).deploy()
        return new Contract(await (await deployed.waitForDeployment()).getAddress(), testUsdcAbi)
      })()
      const token = await foreign
      await mined(send(token, wallet(0), 'mint', payer.address, amount))
      return send(token, payer, 'transfer', to, amount)
    },
    async signPayment(
      payer: Wallet,
      { memo, merchant, amount, validBefore, salt: number }: Payment & { validBefore: number; salt: bigint },
    ) {
      const { chainId } = await provider.getNetwork()
      const salt = toBeHex(number, 32)
      const { domain, types, message } = receiveWithAuthorizationTypedData({
        ...{
          chainId,
          usdcAddress,
          router: routerAddress,
          memo,
          merchant,
          payer: payer.address,
          amount,
          validBefore: BigInt(validBefore),
          salt,
        },
      })
      const signature = await payer.signTypedData(domain, types, message)
      return { payer_address: payer.address, valid_before: validBefore, salt, signature }
    },
    async setRateTime(updatedAt: number): Promise<void> {
      if (rateFeedAddress === undefined) throw new Error('This chain has no rate feed.')
      const feed = new Contract(rateFeedAddress, testRateFeedAbi, provider)
      const { answer_ } = await feed.getFunction('latestRoundData').staticCall()
      await mined(send(feed, wallet(0), 'set', answer_, updatedAt))
    },
  }
}

export interface LocalChainOptions extends AnvilOptions {
  feeBps?: number
  feeReceiver?: string
  /** From an earlier start; used again when the chain of `stateFile` still has it. */
  deployed?: DeployedContracts | undefined
}

/** A chain whose time was moved forward begins with the machine's again, and its next block would be older than its parent. */
async function keepTime(provider: JsonRpcProvider): Promise<void> {
  const [head, next] = await Promise.all([provider.getBlock('latest'), provider.getBlock('pending')])
  const behindS = (head?.timestamp ?? 0) - (next?.timestamp ?? 0)
  if (behindS > 0) await provider.send('evm_increaseTime', [behindS + 1])
}

/** Deploys from test account 0 what does not stand yet. */
export async function ensureContracts(
  provider: JsonRpcProvider,
  terms: { feeBps: number; feeReceiver: string },
  known?: DeployedContracts,
): Promise<DeployedContracts> {
  const signer = await provider.getSigner(0)
  if (known === undefined || (await provider.getCode(known.usdcAddress)) === '0x') return deployContracts(signer, terms)
  return { ...known, routerAddress: await deployRouter(signer, { usdcAddress: known.usdcAddress, ...terms }) }
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
    if (anvilOptions.stateFile !== undefined) await keepTime(provider)
    const deployed = await ensureContracts(provider, { feeBps, feeReceiver }, known)
    if (noMining) await provider.send('evm_setAutomine', [false])
    return {
      ...deployed,
      ...chainActions(provider, deployed),
      ...{ rpcUrl: anvil.rpcUrl, wsUrl: anvil.wsUrl, chainId: anvil.chainId, feeBps, feeReceiver, provider, stop },
      increaseTime: async seconds => void (await provider.send('evm_increaseTime', [seconds])),
      async halt() {
        await provider.send('evm_setIntervalMining', [0])
        await provider.send('evm_setAutomine', [false])
        return async () => {
          await provider.send('evm_setAutomine', [
            !noMining && (anvilOptions.blockTimeS === undefined || anvilOptions.mixedMining === true),
          ])
          if (anvilOptions.blockTimeS !== undefined) await provider.send('evm_setIntervalMining', [anvilOptions.blockTimeS])
          await provider.send('anvil_mine', [1])
        }
      },
      pauseNode: seconds => pauseProcess(anvil.pid, seconds),
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
