import type { OrderBody } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts'
import type { LocalChain } from '@ponte/local-servers'
import { paymentRouterAbi, receiveWithAuthorizationTypedData, testUsdcAbi } from '@ponte/payment-router'
import type { Random } from '@ponte/service-kit/testing'
import { Contract, Interface, toBeHex, Wallet } from 'ethers'
import { bundle } from '../simulation/bundle'
import type { Requests } from './requests'

/** A payer with one line of nonces: his transactions follow one another. What a reorg takes from him he does not send again. */
export interface Payer {
  /** Through the router, as asked; `instead` names what is different about it. */
  pay(order: OrderBody, units: bigint, instead?: { memo?: string; merchant?: string; router?: string }): Promise<void>
  /** A plain transfer to the order's own address. */
  deposit(order: OrderBody, units: bigint): Promise<void>
  /** A plain transfer to a payout address, for no order. */
  direct(payout: string, units: bigint): Promise<void>
  /** Through the router with such transfers of the share's amount before and behind it in the same transaction, and one beside it. */
  payAmong(order: OrderBody, units: bigint): Promise<void>
  /** A signature of a fresh account that owns no native coin; the relayer submits it. */
  authorize(order: OrderBody, units: bigint): Promise<void>
  /** Resolves when everything asked so far is sent and mined, or lost. */
  done(): Promise<void>
}

/** A transaction that a reorg took away may never be mined: no one waits longer than this. */
const MINED_WAIT_MS = 8_000
/** An estimate would refuse what depends on a transaction that is not mined yet. */
const GAS = { gasLimit: 500_000 }

const usdc = new Interface(testUsdcAbi)
const router = new Interface(paymentRouterAbi)

export interface Purse {
  chain: LocalChain
  requests: Requests
  privateKey: string
  /** A contract that makes several calls in one transaction, with money of its own. */
  bundleAddress: string
  count(name: string): void
}

/** Where an order is paid on a chain: as it names it there, or as it does for all, for one that it does not offer. */
const placeOn = ({ payment }: OrderBody, chainId: number) => {
  const named = payment.networks?.find(({ chain_id }) => chain_id === chainId)
  return { merchant: named?.merchant_address ?? payment.merchant_address, deposit: (named ?? payment).deposit_address ?? '' }
}

export function createPayer({ chain, requests, privateKey, bundleAddress, count }: Purse): Payer {
  const wallet = chain.wallet(privateKey)
  const place = (order: OrderBody) => placeOn(order, chain.chainId)
  let line = Promise.resolve()
  const inLine = (name: string, work: () => Promise<unknown>): Promise<void> => {
    line = line.then(async () => {
      try {
        await work()
        count(name)
      } catch (error) {
        // Reorganised away, overtaken by another nonce, not mined in time: by its name, so that nothing else hides among them.
        count(`payments not mined: ${Reflect.get(Object(error), 'code') ?? error}`)
      }
    })
    return line
  }
  const inTime = async (sent: Promise<{ wait(confirmations: number, timeoutMs: number): Promise<unknown> }>) => {
    await (await sent).wait(1, MINED_WAIT_MS)
  }
  const pay = (router: string, memo: string, merchant: string, units: bigint) =>
    new Contract(router, paymentRouterAbi, wallet).getFunction('pay').send(`0x${memo}`, merchant, units, GAS)
  const payAround = (memo: string, merchant: string, units: bigint) => {
    const { usdcAddress, routerAddress } = chain
    const plain = { to: usdcAddress, data: usdc.encodeFunctionData('transfer', [merchant, units - units / 100n]) }
    const paid = { to: routerAddress, data: router.encodeFunctionData('pay', [`0x${memo}`, merchant, units]) }
    return bundle([{ to: usdcAddress, data: usdc.encodeFunctionData('approve', [routerAddress, units]) }, plain, paid, plain])
  }
  const transfer = (to: string, units: bigint) => inTime(chain.transferUsdc(wallet, to, units))

  const sign = async (order: OrderBody, units: bigint) => {
    const fresh = Wallet.createRandom()
    const validBefore = BigInt(Math.floor(Date.parse(order.expires_at) / 1_000))
    const salt = toBeHex(units, 32)
    const { domain, types, message } = receiveWithAuthorizationTypedData({
      ...{ chainId: chain.chainId, usdcAddress: chain.usdcAddress, router: order.payment.router_address },
      ...{ memo: order.memo, merchant: place(order).merchant, payer: fresh.address, amount: units, validBefore, salt },
    })
    const signature = await fresh.signTypedData(domain, types, message)
    return { payer_address: fresh.address, amount: formatUsdc(units), valid_before: Number(validBefore), salt, signature }
  }
  return {
    pay: (order, units, { memo = order.memo, merchant = place(order).merchant, router = chain.routerAddress } = {}) =>
      inLine('payments through a router', () => inTime(pay(router, memo, merchant, units))),
    deposit: (order, units) => inLine('plain transfers', () => transfer(place(order).deposit, units)),
    direct: (payout, units) => inLine('direct transfers', () => transfer(payout, units)),
    payAmong: (order, units) =>
      inLine('payments among direct transfers', async () => {
        const { merchant } = place(order)
        const beside = await chain.transferUsdc(wallet, merchant, units)
        const around = await wallet.sendTransaction({ to: bundleAddress, data: payAround(order.memo, merchant, units), ...GAS })
        await Promise.all([beside, around].map(sent => inTime(Promise.resolve(sent))))
      }),
    authorize: (order, units) =>
      inLine('signatures handed in', async () => {
        const body = await sign(order, units)
        await transfer(body.payer_address, units)
        // The account's money may still be unknown to the end point that is asked: a payer tries again.
        for (let tries = 0; tries < 10; tries++) {
          const answer = await requests.post({ path: `/api/v1/checkout/${order.id}/authorization`, apiKey: null, body })
          if (answer?.status === 202 || answer?.status === 409) return
          await new Promise(resolve => setTimeout(resolve, 500))
        }
        throw new Error('no one takes the signature')
      }),
    done: () => line,
  }
}

/** One payer who takes now this network and now that one; a signature is taken on the first alone. */
export function onAnyNetwork(payers: readonly [Payer, ...Payer[]], random: Random): Payer {
  const any = () => random.pick(payers)
  return {
    pay: (...asked) => any().pay(...asked),
    deposit: (...asked) => any().deposit(...asked),
    direct: (...asked) => any().direct(...asked),
    payAmong: (...asked) => any().payAmong(...asked),
    authorize: (...asked) => payers[0].authorize(...asked),
    done: async () => void (await Promise.all(payers.map(({ done }) => done()))),
  }
}
