import { createHash, randomBytes } from 'node:crypto'
import {
  type BlockPayment,
  type ChainBlocks,
  type ChargeRequested,
  type EventData,
  type EventType,
  formatUsdc,
  type OrderBody,
  paymentId,
} from '@ponte/contracts'
import { type Bus, uuidv7 } from '@ponte/service-kit'
import { asked, merchantId, PAYOUT } from './setup'

type Status = 'detected' | 'confirmed' | 'orphaned'
export type Paid = BlockPayment & { chain_id: number }
type PaidOrder = Pick<OrderBody, 'memo' | 'payment' | 'usdc_amount'>
const hex = (bytes: number) => randomBytes(bytes).toString('hex')
/** The same transaction in another block is another payment. */
const blockHash = (txHash: string, block: number) => `0x${createHash('sha256').update(`${txHash}${block}`).digest('hex')}`

/** An event as its publisher would send it; the same `id` is the same event, delivered again. */
export const message = <T extends EventType>(type: T, data: EventData<T>, id = uuidv7(), occurredAt = new Date()) => ({
  id,
  type,
  body: JSON.stringify({ id, type, occurred_at: occurredAt.toISOString(), data, trace: null }),
})

/** Confirmed ranges lie beyond the blocks that tests name, unless they ask for others. */
const SINCE = 1_000_000

/** Publishes what a chain-listener would: blocks of one generation of its history. */
export function listener(bus: Bus) {
  let generation = uuidv7()
  let lease = uuidv7()
  let version = 0
  let confirmed = SINCE - 1
  const blocks = (change: Partial<ChainBlocks> = {}): ChainBlocks => ({
    ...{ chain_id: 31337, generation, lease, version: ++version, earlier: [], since: SINCE, head: 12, advanced: null },
    ...{ gone: [], payments: [], sweeps: [], watched: [], ...change },
  })
  const router = () => [...(asked.get(bus)?.orders.values() ?? [])].filter(({ deposit_address }) => deposit_address === null)

  const self = {
    generation: () => generation,
    /** Another history: what this one knows is all that counts from now on. */
    beginAnew() {
      generation = uuidv7()
      lease = uuidv7()
      version = 0
      confirmed = SINCE - 1
    },
    /** A payment of this order's memo; `gross` in units. Nothing is published by this. */
    payment(order: PaidOrder, change: Partial<Paid> & { gross?: bigint } = {}): Paid {
      const { gross, ...rest } = change
      const txHash = rest.tx_hash ?? `0x${hex(32)}`
      return {
        kind: 'router',
        is_confirmed: true,
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
        block_hash: blockHash(txHash, rest.block_number ?? 10),
        block_time: new Date().toISOString(),
        ...rest,
      }
    },
    /** A transfer to this order's deposit address. */
    transfer: (order: PaidOrder, change: Partial<Paid> & { gross?: bigint } = {}): Paid =>
      self.payment(order, { kind: 'transfer', deposit_address: order.payment.deposit_address, ...change }),
    idOf: (paid: Paid) => paymentId(paid.chain_id, paid),
    blocks,
    publish: (change: Partial<ChainBlocks>) => bus.publish(message('chain.blocks', blocks(change))),
    /** The next event about a payment; it travels when the caller publishes it. */
    next(type: Status, paid: Paid, change: Partial<Paid> = {}) {
      const moved = change.block_number === undefined ? {} : { block_hash: blockHash(paid.tx_hash, change.block_number) }
      const { chain_id, ...payment } = { ...paid, ...moved, ...change, is_confirmed: type === 'confirmed' }
      const told = type === 'orphaned' ? { gone: [payment.block_hash] } : { payments: [payment] }
      return message('chain.blocks', blocks({ chain_id, ...told }))
    },
    /** The next event about a sweep of this order's address, `gross` in units. */
    async sweeps(
      type: 'confirmed' | 'orphaned',
      order: OrderBody,
      gross: bigint,
      change: Partial<Paid> & { fee?: string } = {},
    ): Promise<Paid> {
      const address = change.deposit_address ?? order.payment.deposit_address ?? PAYOUT
      const sweep = { ...self.payment(order, { gross }), ...change }
      const { chain_id, kind, is_confirmed, ...log } = sweep
      const isGone = type === 'orphaned'
      await self.publish({ chain_id, gone: isGone ? [log.block_hash] : [], sweeps: isGone ? [] : [{ ...log, deposit_address: address }] })
      return sweep
    },
    synced: (...orders: Pick<OrderBody, 'id'>[]) => self.publish({ watched: orders.map(({ id }) => ({ order_id: id, through: 0 })) }),
    blocked: (order: OrderBody, reason: EventData<'deposit.blocked'>['reason'], revision: number, of?: string, chainId = 31337) =>
      bus.publish(
        message('deposit.blocked', {
          ...{ chain_id: chainId, generation: of },
          revision,
          order_id: order.id,
          memo: order.memo,
          merchant_address: order.payment.merchant_address,
          deposit_address: order.payment.deposit_address ?? PAYOUT,
          reason,
        }),
      ),
    async report(type: Status, paid: Paid, change: Partial<Paid> = {}): Promise<void> {
      await bus.publish(self.next(type, paid, change))
    },
    /** Ten more blocks are confirmed, the last of them at this time. */
    advance(time: Date, change: Partial<ChainBlocks> = {}) {
      const from = confirmed + 1
      confirmed += 10
      return message('chain.blocks', blocks({ advanced: { from, to: confirmed, time: time.toISOString() }, head: confirmed, ...change }))
    },
    /** The same, with every order watched that has no address; those that have one are by `synced`. */
    async advances(time: Date, change: Partial<ChainBlocks> = {}): Promise<void> {
      await asked.get(bus)?.idle()
      await bus.publish(self.advance(time, { watched: router().map(({ order_id }) => ({ order_id, through: 0 })), ...change }))
    },
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
