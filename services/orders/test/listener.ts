import { randomBytes } from 'node:crypto'
import {
  type ChainAdvanced,
  type ChainPayment,
  type ChainSweep,
  type ChargeRequested,
  type EventData,
  type EventType,
  formatUsdc,
  type OrderBody,
} from '@ponte/contracts'
import { type Bus, uuidv7 } from '@ponte/service-kit'
import { merchantId, PAYOUT } from './setup'

type Status = 'detected' | 'confirmed' | 'orphaned'
const hex = (bytes: number) => randomBytes(bytes).toString('hex')

/** An event as its publisher would send it; the same `id` is the same event, delivered again. */
export const message = <T extends EventType>(type: T, data: EventData<T>, id = uuidv7(), occurredAt = new Date()) => ({
  id,
  type,
  body: JSON.stringify({ id, type, occurred_at: occurredAt.toISOString(), data, trace: null }),
})

/** Publishes what a chain-listener would: payments, sweeps and deposit states with gapless sequences, and how far the chain is confirmed. */
export function listener(bus: Bus) {
  let sequence = 0
  const revisions = new Map<string, number>()
  const reported = (type: Status, paid: ChainPayment) => message(`payment.${type}`, paid)

  const self = {
    /** A payment of this order's memo; `gross` in units. Nothing is published by this. */
    payment(
      order: Pick<OrderBody, 'memo' | 'payment' | 'usdc_amount'>,
      change: Partial<ChainPayment> & { gross?: bigint } = {},
    ): ChainPayment {
      const { gross, ...rest } = change
      const txHash = `0x${hex(32)}`
      return {
        payment_id: `31337:${txHash}:0`,
        sequence: 0,
        revision: 0,
        kind: 'router',
        chain_id: order.payment.chain_id,
        router_address: order.payment.router_address.toLowerCase(),
        token_address: order.payment.token_address.toLowerCase(),
        memo: order.memo,
        merchant_address: order.payment.merchant_address.toLowerCase(),
        payer_address: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
        deposit_address: null,
        amount: gross === undefined ? order.usdc_amount : formatUsdc(gross),
        log_index: 0,
        tx_hash: txHash,
        block_number: 10,
        block_hash: `0x${hex(32)}`,
        block_time: new Date().toISOString(),
        ...rest,
      }
    },
    /** A transfer to this order's deposit address. */
    transfer: (
      order: Pick<OrderBody, 'memo' | 'payment' | 'usdc_amount'>,
      change: Partial<ChainPayment> & { gross?: bigint } = {},
    ): ChainPayment => self.payment(order, { kind: 'transfer', deposit_address: order.payment.deposit_address, ...change }),
    /** The next event about a payment, numbered; it travels when the caller publishes it. */
    next(type: Status, paid: ChainPayment, change: Partial<ChainPayment> = {}) {
      const revision = (revisions.get(paid.payment_id) ?? 0) + 1
      revisions.set(paid.payment_id, revision)
      return reported(type, { ...paid, ...change, revision, sequence: ++sequence })
    },
    /** The next event about a sweep of this order's address, `gross` in units. */
    async sweeps(type: 'confirmed' | 'orphaned', order: OrderBody, gross: bigint, change: Partial<ChainSweep> = {}): Promise<ChainSweep> {
      const { kind, payer_address, payment_id, ...position } = self.payment(order, { gross })
      const sweep = { ...position, amount: formatUsdc(gross), log_index: 0, sweep_id: payment_id, ...change }
      const revision = (revisions.get(sweep.sweep_id) ?? 0) + 1
      revisions.set(sweep.sweep_id, revision)
      const data: ChainSweep = { ...sweep, deposit_address: order.payment.deposit_address ?? PAYOUT, revision, sequence: ++sequence }
      await bus.publish(message(`sweep.${type}`, data))
      return data
    },
    synced: (...orders: OrderBody[]) =>
      bus.publish(message('deposit.synced', { chain_id: 31337, sequence: ++sequence, order_ids: orders.map(({ id }) => id) })),
    blocked: (order: OrderBody, reason: EventData<'deposit.blocked'>['reason'], revision: number) =>
      bus.publish(
        message('deposit.blocked', {
          chain_id: 31337,
          sequence: ++sequence,
          revision,
          order_id: order.id,
          memo: order.memo,
          merchant_address: order.payment.merchant_address,
          deposit_address: order.payment.deposit_address ?? PAYOUT,
          reason,
        }),
      ),
    async report(type: Status, paid: ChainPayment, change: Partial<ChainPayment> = {}): Promise<void> {
      await bus.publish(self.next(type, paid, change))
    },
    advance: (time: Date, change: Partial<ChainAdvanced> = {}) =>
      message('chain.advanced', {
        ...{ chain_id: 31337, confirmed_block: 10, confirmed_time: time.toISOString(), head_block: 12, sequence, ...change },
      }),
    advances: (time: Date, change: Partial<ChainAdvanced> = {}) => bus.publish(self.advance(time, change)),
  }
  return self
}

export const charge = (change: Partial<ChargeRequested> = {}): ChargeRequested => ({
  order_id: uuidv7(),
  memo: hex(32),
  subscription_id: uuidv7(),
  terms: { merchant_id: merchantId, version: 1, display_name: 'Padaria Estrela', payout_address: PAYOUT },
  brl_amount: '49.90',
  external_ref: 'SUB-1',
  description: null,
  metadata: {},
  expires_in: 86_400,
  ...change,
})
