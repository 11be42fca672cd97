import {
  type CheckoutBody,
  checkout as checkoutSchema,
  formatUsdc,
  operations,
  type PayTestOrder,
  parseUsdc,
  pathWith,
  type TestPaymentsBody,
  type TestScenarioName,
} from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { type Part, until } from '@ponte/service-kit'
import { z } from 'zod'
import { paymentsOf, scenarioNamed, scenarioOf } from './scenario'

export interface SamplePayerOptions {
  chain: LocalChain
  privateKey: string
  gatewayUrl: string
}

type Via = NonNullable<PayTestOrder['via']>
type Payments = TestPaymentsBody['payments']

export interface SamplePayments {
  object: 'sample_payments'
  scenario: TestScenarioName | null
  payments: Payments
}

/** Effects of a scenario beside those of payer and network. */
export interface Stage {
  /** Cancels the order, as its merchant. */
  cancel(): Promise<void>
  /** Waits until the order has expired; throws NotPayable when that is too far away. */
  expire(order: CheckoutBody): Promise<void>
  /** Duration of a fault that lasts. */
  seconds?: number | undefined
}

export interface Played {
  payments: Payments
  /** When what lasts is over. */
  until: Date | null
}

export class NotPayable extends Error {
  override name = 'NotPayable'

  constructor(
    message: string,
    readonly code: 'invalid_state' | 'not_found' = 'invalid_state',
  ) {
    super(message)
  }
}

const problem = z.object({ detail: z.string() })

export type SamplePayer = ReturnType<typeof createSamplePayer>

const EXPIRY_WAIT_MS = 60_000
const NOTICE_WAIT_MS = 12_000
const LASTS_S = { slow_node: 5, halted: 10, no_rate: 30 } as const
/** As long as a node may be silent before the services' own requests to it fail, and no longer. */
const SLOW_MAX_S = 20
const AN_HOUR_S = 3_600
/** Sends what its customers withdraw. */
const EXCHANGE_ACCOUNT = 6

/** The sample payer of a local chain, whose USDC costs nothing: it mints what it lacks and pays by real transactions. */
export function createSamplePayer({ chain, privateKey, gatewayUrl }: SamplePayerOptions) {
  const payer = chain.wallet(privateKey)
  const exchange = chain.wallet(EXCHANGE_ACCOUNT)
  const lasting = new Map<NodeJS.Timeout, () => Promise<void>>()
  // One wallet has one sequence of transactions.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  const hold = async (account: string, units: bigint) => {
    const held = await chain.balanceOf(account)
    if (held < units) await mined(chain.mintUsdc(account, units - held))
  }

  const send = async (order: CheckoutBody, units: bigint, asked: Via, transfer = chain.transferUsdc): Promise<Payments[number]> => {
    const { deposit_address, merchant_address } = order.payment
    const via = deposit_address === null && (asked === 'transfer' || asked === 'exchange') ? 'router' : asked
    const from = via === 'exchange' ? exchange : payer
    await hold(from.address, units)
    const amount = formatUsdc(units)
    if (via === 'signature') return { tx_hash: await sign(order, units), amount, via }
    const payment = { memo: `0x${order.memo}`, merchant: merchant_address, amount: units }
    const { hash } = await (via === 'router' ? chain.pay(payer, payment) : transfer(from, deposit_address ?? '', units))
    return { tx_hash: hash, amount, via }
  }
  /** Hands a signature in, and answers the transaction by which the platform submits it. */
  const sign = async (order: CheckoutBody, units: bigint): Promise<string> => {
    const path = pathWith(operations.authorizePayment.path, { order_id: order.id })
    const routed = order.payments.filter(({ kind }) => kind === 'router').length
    const signed = await chain.signPayment(payer, {
      ...{ memo: `0x${order.memo}`, merchant: order.payment.merchant_address, amount: units },
      ...{ validBefore: Math.floor(Date.parse(order.expires_at) / 1_000), salt: parseUsdc(order.usdc_amount) + BigInt(routed) },
    })
    const answer = await fetch(`${gatewayUrl}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...signed, amount: formatUsdc(units) }),
    })
    if (!answer.ok) throw new NotPayable(problem.parse(await answer.json()).detail)
    const submitted = async () => (await readCheckout(gatewayUrl, order.id)).authorization
    const isDecided = async () => {
      const authorization = await submitted()
      return authorization !== null && (authorization.tx_hash !== null || authorization.status === 'failed')
    }
    await until(isDecided, 'the signature was not submitted', NOTICE_WAIT_MS)
    const authorization = await submitted()
    if (authorization?.tx_hash == null) throw new NotPayable(`The signature was refused: ${authorization?.reason ?? 'without a reason'}.`)
    return authorization.tx_hash
  }

  /** Replaces the blocks down to the one of this transaction by empty ones. */
  const takeBack = async (txHash: string) => {
    const receipt = await chain.provider.getTransactionReceipt(txHash)
    if (receipt) await chain.reorg((await chain.provider.getBlockNumber()) - receipt.blockNumber + 1)
  }
  /** Until it is noticed the order still asks for it, and the next payment would be made again. */
  const noticed = (orderId: string, payments: Payments) =>
    until(
      async () => {
        const { payments: seen } = await readCheckout(gatewayUrl, orderId)
        return payments.every(({ tx_hash }) => seen.some(payment => payment.tx_hash === tx_hash))
      },
      'the payment was not noticed',
      NOTICE_WAIT_MS,
    )
  const sendAll = async (order: CheckoutBody, amounts: bigint[], via: Via): Promise<Payments> => {
    const payments: Payments = []
    for (const units of amounts) payments.push(await send(order, units, via))
    await noticed(order.id, payments)
    return payments
  }
  /** Has something end after a while, and at the latest when everything stops. */
  const lasts = (seconds: number, end: () => Promise<void>): Date => {
    const timer = setTimeout(() => {
      lasting.delete(timer)
      end().catch(() => undefined)
    }, seconds * 1_000)
    lasting.set(timer, end)
    return new Date(Date.now() + seconds * 1_000)
  }

  const playInTurn = async (order: CheckoutBody, name: TestScenarioName, { cancel, expire, seconds }: Stage): Promise<Played> => {
    const amounts = paymentsOf(name, parseUsdc(order.due))
    const [due = 0n] = amounts
    if (name !== 'no_rate' && due === 0n)
      throw new NotPayable(`Order ${order.id} is ${order.status} and asks for nothing; make another one.`)
    switch (name) {
      case 'late':
        await expire(order)
        return { payments: await sendAll(order, amounts, 'transfer'), until: null }
      case 'after_cancel':
        await cancel()
        return { payments: await sendAll(order, amounts, 'transfer'), until: null }
      case 'reorganised': {
        // A sweep would be taken back with it.
        const payments = await sendAll(order, amounts, 'router')
        await until(async () => (await readCheckout(gatewayUrl, order.id)).status === 'paid', 'it was not confirmed', NOTICE_WAIT_MS)
        for (const { tx_hash } of payments) await takeBack(tx_hash)
        return { payments, until: null }
      }
      case 'blocked': {
        const payments = [await send(order, due, 'transfer', chain.transferAndBlock)]
        await noticed(order.id, payments)
        return { payments, until: null }
      }
      case 'wrong_token': {
        const address = order.payment.deposit_address
        if (address === null) throw new NotPayable('This deployment has no deposit addresses, so nothing else can come to one.')
        const { hash } = await mined(chain.transferForeign(payer, address, due))
        return { payments: [{ tx_hash: hash, amount: formatUsdc(due), via: 'transfer' }], until: null }
      }
      case 'slow_node': {
        const slowS = Math.min(seconds ?? LASTS_S.slow_node, SLOW_MAX_S)
        const payments = [await send(order, due, 'router')]
        await chain.pauseNode(slowS)
        return { payments, until: new Date(Date.now() + slowS * 1_000) }
      }
      case 'halted': {
        await hold(payer.address, due)
        const resume = await chain.halt()
        const over = lasts(seconds ?? LASTS_S.halted, resume)
        return { payments: [await send(order, due, 'transfer')], until: over }
      }
      case 'no_rate':
        await chain.setRateTime((await chain.now()) - AN_HOUR_S)
        return { payments: [], until: lasts(seconds ?? LASTS_S.no_rate, () => inTurn(() => chain.setRateTime(0))) }
      default:
        return { payments: await sendAll(order, amounts, 'transfer'), until: null }
    }
  }
  const payInTurn = async (orderId: string, { amount, via = 'transfer' }: PayTestOrder): Promise<SamplePayments> => {
    const order = await readCheckout(gatewayUrl, orderId)
    const scenario = amount === undefined ? scenarioOf(order.brl_amount)?.name : undefined
    if (scenario !== undefined && parseUsdc(order.due) > 0n) {
      const { payments } = await playInTurn(order, scenario, { cancel: async () => undefined, expire: expired(gatewayUrl) })
      return { object: 'sample_payments', scenario, payments }
    }
    const units = parseUsdc(amount ?? order.due)
    if (units === 0n) throw new NotPayable(`Order ${order.id} is ${order.status} and asks for nothing; name an amount to pay all the same.`)
    return { object: 'sample_payments', scenario: null, payments: await sendAll(order, [units], via) }
  }
  const part: Part = {
    name: 'sample payer',
    busy: () => lasting.size > 0,
    async stop() {
      for (const [timer, end] of lasting) {
        clearTimeout(timer)
        await end().catch(() => undefined)
      }
      lasting.clear()
      await last
    },
  }
  return {
    part,
    pay: (orderId: string, request: PayTestOrder): Promise<SamplePayments> => inTurn(() => payInTurn(orderId, request)),
    play: (orderId: string, name: TestScenarioName, stage: Stage): Promise<Played> =>
      inTurn(async () => playInTurn(await readCheckout(gatewayUrl, orderId), scenarioNamed(name).name, stage)),
    fund: (address: string, units: bigint): Promise<string> =>
      inTurn(async () => {
        const sent = await chain.mintUsdc(address.toLowerCase(), units)
        const receipt = await mined(sent).catch(() => null)
        if (receipt === null) throw new NotPayable('The token gives nothing to this address.')
        return receipt.hash
      }),
  }
}

const expired =
  (gatewayUrl: string) =>
  async (order: CheckoutBody): Promise<void> => {
    const deadline = Date.now() + EXPIRY_WAIT_MS
    if (Date.parse(order.expires_at) > deadline) {
      throw new NotPayable('An order that is to be paid late must expire within a minute: create it with "expires_in": 10.')
    }
    await until(
      async () => (await readCheckout(gatewayUrl, order.id)).status === 'expired',
      'the order has not expired',
      2 * EXPIRY_WAIT_MS,
    )
  }

export async function readCheckout(gatewayUrl: string, orderId: string): Promise<CheckoutBody> {
  const answer = await fetch(`${gatewayUrl}${pathWith(operations.getCheckout.path, { order_id: orderId })}`)
  if (!answer.ok) throw new NotPayable(`There is no order ${orderId} to pay.`, 'not_found')
  return checkoutSchema.parse(await answer.json())
}
