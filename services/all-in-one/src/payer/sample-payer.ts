import { type CheckoutBody, checkout as checkoutSchema, formatUsdc, operations, parseUsdc, pathWith } from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { paymentsOf, type Scenario, scenarioOf } from './scenario'

export interface SamplePayerOptions {
  chain: LocalChain
  privateKey: string
  gatewayUrl: string
}

export interface PaymentRequest {
  /** USDC, decimal; by default what is due, or what the order's amount stands for. */
  amount?: string | undefined
  via: 'transfer' | 'router'
}

export interface SamplePayments {
  object: 'sample_payments'
  scenario: string | null
  payments: { tx_hash: string; amount: string; via: PaymentRequest['via'] }[]
}

/** Why nothing was paid. */
export class NotPayable extends Error {
  override name = 'NotPayable'

  constructor(
    message: string,
    readonly code: 'invalid_state' | 'not_found' = 'invalid_state',
  ) {
    super(message)
  }
}

export type SamplePayer = ReturnType<typeof createSamplePayer>

const EXPIRY_WAIT_MS = 60_000
const NOTICE_WAIT_MS = 30_000

/** The sample payer of a local chain, whose USDC costs nothing: it mints what it lacks and pays by real transactions. */
export function createSamplePayer({ chain, privateKey, gatewayUrl }: SamplePayerOptions) {
  const payer = chain.wallet(privateKey)
  // One wallet has one sequence of transactions.
  let last: Promise<unknown> = Promise.resolve()

  const send = async (order: CheckoutBody, units: bigint, via: PaymentRequest['via'], scenario: Scenario['name'] | undefined) => {
    const { deposit_address, merchant_address } = order.payment
    const held = await chain.balanceOf(payer.address)
    if (held < units) await mined(chain.mintUsdc(payer.address, units - held))
    // A sweep would be taken back with it.
    const throughRouter = via === 'router' || deposit_address === null || scenario === 'reorganised'
    const paid = { amount: formatUsdc(units), via: throughRouter ? ('router' as const) : ('transfer' as const) }
    if (throughRouter) {
      const { hash } = await mined(chain.pay(payer, { memo: `0x${order.memo}`, merchant: merchant_address, amount: units }))
      return { tx_hash: hash, ...paid }
    }
    const transfer = scenario === 'blocked' ? chain.transferAndBlock : chain.transferUsdc
    const { hash } = await mined(transfer(payer, deposit_address, units))
    return { tx_hash: hash, ...paid }
  }

  /** Replaces the blocks down to the one of this transaction by empty ones. */
  const takeBack = async (txHash: string) => {
    const receipt = await chain.provider.getTransactionReceipt(txHash)
    if (receipt) await chain.reorg((await chain.provider.getBlockNumber()) - receipt.blockNumber + 1)
  }

  const payInTurn = async (orderId: string, { amount, via }: PaymentRequest): Promise<SamplePayments> => {
    const order = await readCheckout(gatewayUrl, orderId)
    const scenario = amount === undefined ? scenarioOf(order.brl_amount) : undefined
    const wanted = amount === undefined ? paymentsOf(scenario, parseUsdc(order.due)) : [parseUsdc(amount)]
    if (wanted.some(units => units === 0n)) {
      throw new NotPayable(`Order ${order.id} is ${order.status} and asks for nothing; name an amount to pay all the same.`)
    }
    if (scenario?.name === 'late') await expired(gatewayUrl, order)
    const payments: SamplePayments['payments'] = []
    for (const units of wanted) payments.push(await send(order, units, via, scenario?.name))
    // Until it is noticed the order still asks for it, and the next click would pay again.
    await until(
      async () => {
        const { payments: noticed } = await readCheckout(gatewayUrl, orderId)
        return payments.every(({ tx_hash }) => noticed.some(payment => payment.tx_hash === tx_hash))
      },
      'the payment was not noticed',
      NOTICE_WAIT_MS,
    )
    const [first] = payments
    if (scenario?.name === 'reorganised' && first) {
      await until(async () => (await readCheckout(gatewayUrl, orderId)).status === 'paid', 'the payment was not confirmed', NOTICE_WAIT_MS)
      await takeBack(first.tx_hash)
    }
    return { object: 'sample_payments', scenario: scenario?.name ?? null, payments }
  }
  return {
    pay(orderId: string, request: PaymentRequest): Promise<SamplePayments> {
      const turn = last.then(() => payInTurn(orderId, request))
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

async function expired(gatewayUrl: string, order: CheckoutBody): Promise<void> {
  const deadline = Date.now() + EXPIRY_WAIT_MS
  if (Date.parse(order.expires_at) > deadline) {
    throw new NotPayable('An order that is to be paid late must expire within a minute: create it with "expires_in": 10.')
  }
  await until(async () => (await readCheckout(gatewayUrl, order.id)).status === 'expired', 'the order has not expired', 2 * EXPIRY_WAIT_MS)
}

async function readCheckout(gatewayUrl: string, orderId: string): Promise<CheckoutBody> {
  const answer = await fetch(`${gatewayUrl}${pathWith(operations.getCheckout.path, { order_id: orderId })}`)
  if (!answer.ok) throw new NotPayable(`There is no order ${orderId} to pay.`, 'not_found')
  return checkoutSchema.parse(await answer.json())
}
