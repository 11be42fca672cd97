import { randomBytes } from 'node:crypto'
import { Contract, hexlify, Interface, type Signer, type TransactionReceipt, type TransactionResponse } from 'ethers'
import { paymentRouterAbi } from '../artifacts/payment-router'
import { testUsdcAbi } from '../artifacts/test-usdc'
import { depositAddress } from '../deposit-address'
import { splitFee } from '../split-fee'

const AMOUNT = 10_000n

export interface TestSweep {
  memo: string
  depositAddress: string
  txHash: string
  gasUsed: bigint
  blockNumber: number
}

/**
 * Pays one cent to a deposit address of the signer's and sweeps it back, before addresses of this router are given to anyone. Rejects when the
 * event or a balance is not what it must be. `announce` is notified of the memo first: should the work break off, the cent is swept by it.
 */
export async function testSweep(
  signer: Signer,
  { usdcAddress, routerAddress }: { usdcAddress: string; routerAddress: string },
  announce: (memo: string) => void,
): Promise<TestSweep> {
  const [memo, merchant] = [hexlify(randomBytes(32)), await signer.getAddress()]
  const deposit = depositAddress({ router: routerAddress, memo, merchant })
  const usdc = new Contract(usdcAddress, testUsdcAbi, signer)
  const router = new Contract(routerAddress, paymentRouterAbi, signer)
  const balance = (account: string): Promise<bigint> => usdc.getFunction('balanceOf').staticCall(account)
  if ((await balance(merchant)) < AMOUNT) throw new Error(`${merchant} needs 0.01 USDC for the test sweep`)
  const feeReceiver: string = await router.getFunction('feeReceiver').staticCall()
  const before = await balance(feeReceiver)
  announce(memo)
  await mined(usdc.getFunction('transfer').send(deposit, AMOUNT))
  const receipt = await mined(router.getFunction('sweep').send(memo, merchant))
  const { share, fee } = splitFee(AMOUNT, Number(await router.getFunction('feeBps').staticCall()))
  const wanted = [memo, merchant, deposit, share, fee].join()
  if (!reported(receipt, routerAddress).includes(wanted)) throw new Error(`the test sweep ${receipt.hash} did not report ${wanted}`)
  const left = await balance(deposit)
  const got = (await balance(feeReceiver)) - before
  if (left !== 0n || (feeReceiver !== merchant && got < fee))
    throw new Error(`the test sweep ${receipt.hash} left ${left} and paid ${got} as fee`)
  return { memo, depositAddress: deposit, txHash: receipt.hash, gasUsed: receipt.gasUsed, blockNumber: receipt.blockNumber }
}

async function mined(sent: Promise<TransactionResponse>): Promise<TransactionReceipt> {
  const receipt = await (await sent).wait()
  if (receipt === null) throw new Error('a transaction was mined without a receipt')
  return receipt
}

function reported(receipt: TransactionReceipt, router: string): string[] {
  const abi = Interface.from(paymentRouterAbi)
  return receipt.logs
    .filter(({ address }) => address.toLowerCase() === router.toLowerCase())
    .map(log => [...(abi.parseLog(log)?.args ?? [])].join())
}
