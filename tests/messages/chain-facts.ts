import { createHash, randomBytes } from 'node:crypto'
import {
  type AskExplanation,
  type BlockPayment,
  type EventData,
  type EventType,
  formatUsdc,
  NO_MEMO,
  type OrderBody,
  type RecoveryBody,
  type RefundBody,
} from '@ponte/contracts'
import { type Message, uuidv7 } from '@ponte/service-kit'
import { ZeroAddress } from 'ethers'
import { CHAIN } from './home'

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
export const PAYER = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
/** So long after its block a payment is confirmed. */
const CONFIRMED_AFTER_S = 20

type State = 'detected' | 'confirmed' | 'orphaned'
interface Fact {
  /** Chain time in seconds at which the listener publishes it. */
  at: number
  message(version: number): Message
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

/** One history of the listener, which began with the chain. */
const GENERATION = uuidv7()
const LEASE = uuidv7()

/** Published as by a chain-listener, in the order of the chain when it is taken. */
export function chainFacts() {
  let version = 0
  let confirmed = -1
  let facts: Fact[] = []
  /** The confirmed payments that stand, by their block. */
  const standing = new Map<string, BlockPayment>()
  const add = (at: number, build: (version: number) => Message) => void facts.push({ at, message: build })
  const blocks = (version: number, at: number, change: Partial<EventData<'chain.blocks'>>) =>
    message('chain.blocks', {
      ...{ chain_id: CHAIN.chainId, generation: GENERATION, lease: LEASE, version, earlier: [], since: 0, head: Math.floor(at) },
      ...{ advanced: null, gone: [], payments: [], sweeps: [], watched: [], ...change },
    })
  const position = (at: number) => ({
    ...{ tx_hash: hex(32), block_number: Math.floor(at), block_hash: hex(32), log_index: 0 },
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
      const log = {
        ...position(at),
        ...contracts,
        ...{ kind, memo, merchant_address: merchantOf(order), payer_address: PAYER },
        ...{ deposit_address: kind === 'transfer' ? depositOf(order) : null, amount: formatUsdc(unitsOf(order, percent)) },
        ...(memo === NO_MEMO ? { router_address: ZeroAddress, deposit_address: merchantOf(order) } : {}),
      }
      states.forEach((state, step) => {
        add(at + step * CONFIRMED_AFTER_S, version => {
          const payment = { ...log, is_confirmed: state === 'confirmed' }
          if (state === 'confirmed') standing.set(log.block_hash, payment)
          if (state === 'orphaned') standing.delete(log.block_hash)
          return blocks(version, at, state === 'orphaned' ? { gone: [log.block_hash] } : { payments: [payment] })
        })
      })
    },
    sweep(order: OrderBody, at: number, states: readonly ('confirmed' | 'orphaned')[] = ['confirmed']) {
      const log = {
        ...position(at),
        ...contracts,
        ...{ memo: order.memo, merchant_address: merchantOf(order), payer_address: depositOf(order) },
        ...{ deposit_address: depositOf(order), amount: order.usdc_amount },
      }
      for (const [step, state] of states.entries())
        add(at + step, version => blocks(version, at, state === 'orphaned' ? { gone: [log.block_hash] } : { sweeps: [log] }))
    },
    synced: (orders: readonly OrderBody[], at: number) =>
      add(at, version => blocks(version, at, { watched: orders.map(({ id }) => ({ order_id: id, through: 0 })) })),
    blocked(order: OrderBody, at: number) {
      for (const [index, reason] of (['payout_address_blocked', null] as const).entries())
        add(at + index, () =>
          message('deposit.blocked', {
            ...{ chain_id: CHAIN.chainId, generation: GENERATION, revision: index + 1, order_id: order.id, memo: order.memo, reason },
            ...{ merchant_address: order.payment.merchant_address, deposit_address: depositOf(order) },
          }),
        )
    },
    /** Watched for ever, until too much comes there. */
    watchedUntil(address: string, at: number) {
      for (const [index, watch_until] of [null, 9_000_000].entries())
        add(at + index, () =>
          message('payout.watched', {
            ...{ chain_id: CHAIN.chainId, generation: GENERATION },
            payouts: [{ address, revision: index + 1, watch_from: 0, watch_until }],
          }),
        )
    },
    signed(order: OrderBody, at: number) {
      for (const [index, status] of (['accepted', 'submitted', 'paid'] as const).entries())
        add(at + index, () =>
          message('authorization.changed', {
            ...{
              chain_id: CHAIN.chainId,
              generation: GENERATION,
              order_id: order.id,
              attempt: 0,
              revision: index + 1,
              status,
              payer_address: PAYER,
            },
            ...{ amount: order.usdc_amount, valid_before: Math.floor(at) + 600, tx_hash: null, reason: null },
          }),
        )
    },
    /** Not submitted, and then it is. */
    returned: (refund: RefundBody, at: number): Message[] =>
      [false, true].map((isMined, index) =>
        message('refund.observed', {
          ...{ chain_id: CHAIN.chainId, generation: GENERATION, revision: index + 1, refund_id: refund.id, order_id: refund.order_id },
          ...{ from_address: refund.from_address, payee_address: refund.payee_address, amount: refund.amount, nonce: refund.nonce },
          ...{ watch_from: 0, valid_before: null, block_number: 9, block_time: new Date(at * 1_000).toISOString(), wallet_balance: null },
          end: isMined
            ? {
                kind: 'transferred',
                tx_hash: `0x${'ed'.repeat(32)}`,
                log_index: 1,
                block_number: 8,
                block_time: new Date(at * 1_000).toISOString(),
              }
            : null,
        }),
      ),
    /** Another token at the deposit address, as nodes show its transaction. */
    foreign: (order: OrderBody, at: number): AskExplanation => ({
      tx_hash: `0x${'fa'.repeat(32)}`,
      transaction: {
        ...{ chain_id: CHAIN.chainId, status: 'mined', depth: 99, block_time: new Date(at * 1_000).toISOString(), payments: [] },
        transfers: [{ token_address: PAYER, to_address: depositOf(order), units: '7' }],
      },
    }),
    /** Not sent on, and then it is. */
    recovered: (recovery: RecoveryBody, at: number): Message[] =>
      [false, true].map((isMined, index) =>
        message('recovery.observed', {
          ...{
            chain_id: CHAIN.chainId,
            generation: GENERATION,
            revision: index + 1,
            recovery_id: recovery.id,
            order_id: recovery.order_id,
          },
          ...{ token_address: recovery.token_address ?? PAYER, failure_code: null },
          end: isMined
            ? { tx_hash: `0x${'fb'.repeat(32)}`, block_number: 8, block_time: new Date(at * 1_000).toISOString(), units: '7' }
            : null,
        }),
      ),
    /** Blocks in which nothing was confirmed, in sums. */
    audited: (at: number) =>
      add(at, () =>
        message('chain.audited', {
          ...{ chain_id: CHAIN.chainId, generation: GENERATION },
          spans: [{ from_block: 1, to_block: 9, count: 0, digest: createHash('md5').update('').digest('hex') }],
        }),
      ),
    /** Everything up to then is confirmed, and named with it. */
    advance: (at: number) =>
      add(at, version => {
        const [from, to] = [confirmed + 1, Math.max(Math.floor(at), confirmed + 1)]
        confirmed = to
        const payments = [...standing.values()].filter(({ block_number }) => block_number >= from && block_number <= to)
        return blocks(version, at, { advanced: { from, to, time: new Date(at * 1_000).toISOString() }, payments })
      }),
    /** All of it, in the order of the chain. */
    take(): Message[] {
      const ordered = facts.toSorted((a, b) => a.at - b.at)
      facts = []
      return ordered.map(fact => {
        version += 1
        return fact.message(version)
      })
    },
  }
}
export type ChainFacts = ReturnType<typeof chainFacts>
