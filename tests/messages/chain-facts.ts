import { createHash, randomBytes } from 'node:crypto'
import { type ChainPayment, type EventData, type EventType, formatUsdc, type OrderBody } from '@ponte/contracts'
import { type Message, uuidv7 } from '@ponte/service-kit'
import { CHAIN } from './home'

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
const PAYER = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
/** So long after its block a payment is confirmed. */
const CONFIRMED_AFTER_S = 20

type State = 'detected' | 'confirmed' | 'orphaned'
interface Fact {
  /** Chain time in seconds at which the listener publishes it. */
  at: number
  /** It takes a number of its own; others name the last one. */
  isNumbered: boolean
  message(sequence: number): Message
}

export const message = <T extends EventType>(type: T, data: EventData<T>): Message => {
  const id = uuidv7()
  return { id, type, body: JSON.stringify({ id, type, occurred_at: new Date().toISOString(), data, trace: null }) }
}

export interface Paying {
  /** Of what the order asks, in percent. */
  percent?: number
  kind?: 'router' | 'transfer'
  memo?: string
  states?: readonly State[]
}

/** What a chain-listener would publish about orders, numbered in the order of the chain when it is taken. */
export function chainFacts() {
  let sequence = 0
  let facts: Fact[] = []
  const add = (at: number, build: (sequence: number) => Message) => void facts.push({ at, isNumbered: true, message: build })
  const addUnnumbered = (at: number, build: (sequence: number) => Message) => void facts.push({ at, isNumbered: false, message: build })
  const position = (at: number) => ({
    ...{ chain_id: CHAIN.chainId, tx_hash: hex(32), block_number: Math.floor(at), block_hash: hex(32) },
    block_time: new Date(at * 1_000).toISOString(),
  })
  const contracts = { router_address: CHAIN.routerAddress.toLowerCase(), token_address: CHAIN.usdcAddress.toLowerCase() }
  const unitsOf = (order: OrderBody, percent: number) => (BigInt(order.usdc_amount.replace('.', '')) * BigInt(percent)) / 100n
  const depositOf = (order: OrderBody) => order.payment.deposit_address ?? ''
  const merchantOf = (order: OrderBody) => order.payment.merchant_address.toLowerCase()

  return {
    pay(
      order: OrderBody,
      at: number,
      { percent = 100, kind = 'router', memo = order.memo, states = ['detected', 'confirmed'] }: Paying = {},
    ) {
      const where = position(at)
      const payment: Omit<ChainPayment, 'sequence' | 'revision'> = {
        ...where,
        ...contracts,
        ...{ payment_id: `${CHAIN.chainId}:${where.tx_hash}:0`, kind, memo, merchant_address: merchantOf(order), payer_address: PAYER },
        ...{ deposit_address: kind === 'transfer' ? depositOf(order) : null, amount: formatUsdc(unitsOf(order, percent)), log_index: 0 },
      }
      states.forEach((state, revision) => {
        const reported = at + revision * CONFIRMED_AFTER_S
        add(reported, sequence => message(`payment.${state}`, { ...payment, revision: revision + 1, sequence }))
      })
    },
    sweep(order: OrderBody, at: number, states: readonly ('confirmed' | 'orphaned')[] = ['confirmed']) {
      const where = position(at)
      const sweep = {
        ...where,
        ...contracts,
        ...{ sweep_id: `${CHAIN.chainId}:${where.tx_hash}:0`, memo: order.memo, merchant_address: merchantOf(order) },
        ...{ deposit_address: depositOf(order), amount: order.usdc_amount, log_index: 0 },
      }
      for (const [revision, state] of states.entries())
        add(at + revision, sequence => message(`sweep.${state}`, { ...sweep, revision: revision + 1, sequence }))
    },
    synced: (orders: readonly OrderBody[], at: number) =>
      add(at, sequence => message('deposit.synced', { chain_id: CHAIN.chainId, sequence, order_ids: orders.map(({ id }) => id) })),
    blocked(order: OrderBody, at: number) {
      for (const [index, reason] of (['payout_address_blocked', null] as const).entries())
        add(at + index, sequence =>
          message('deposit.blocked', {
            ...{ chain_id: CHAIN.chainId, sequence, revision: index + 1, order_id: order.id, memo: order.memo, reason },
            ...{ merchant_address: order.payment.merchant_address, deposit_address: depositOf(order) },
          }),
        )
    },
    signed(order: OrderBody, at: number) {
      for (const [index, status] of (['accepted', 'submitted', 'paid'] as const).entries())
        addUnnumbered(at + index, () =>
          message('authorization.changed', {
            ...{ chain_id: CHAIN.chainId, order_id: order.id, attempt: 0, revision: index + 1, status, payer_address: PAYER },
            ...{ amount: order.usdc_amount, valid_before: Math.floor(at) + 600, tx_hash: null, reason: null },
          }),
        )
    },
    /** Blocks in which nothing was confirmed, in sums. */
    audited: (at: number) =>
      addUnnumbered(at, sequence =>
        message('chain.audited', {
          ...{ chain_id: CHAIN.chainId, sequence },
          spans: [{ from_block: 1, to_block: 9, count: 0, digest: createHash('md5').update('').digest('hex') }],
        }),
      ),
    /** Everything up to then is confirmed. */
    advance: (at: number) =>
      addUnnumbered(at, sequence => {
        const block = Math.floor(at)
        const confirmed_time = new Date(at * 1_000).toISOString()
        return message('chain.advanced', { chain_id: CHAIN.chainId, confirmed_block: block, confirmed_time, head_block: block, sequence })
      }),
    /** All of it, in the order of the chain. */
    take(): Message[] {
      const ordered = facts.toSorted((a, b) => a.at - b.at)
      facts = []
      return ordered.map(fact => {
        if (fact.isNumbered) sequence += 1
        return fact.message(sequence)
      })
    },
  }
}
export type ChainFacts = ReturnType<typeof chainFacts>
