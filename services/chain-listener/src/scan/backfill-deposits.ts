import { paymentRouterAbi } from '@ponte/payment-router'
import { Interface } from 'ethers'
import type { Watch } from '../logs/filter'
import type { Deposit } from '../logs/transfer'
import type { TimedPayment } from '../payment'
import type { Node } from '../rpc/node'
import type { Nodes } from '../rpc/pool'
import type { DepositStore, Watched } from '../store/deposits'
import type { Steps } from './apply'
import { readBlock, readPassed } from './fetch'
import type { Reader } from './fetch-ahead'
import type { Votes } from './quorum'
import { UndecidedError } from './recovery'
import type { Lead } from './session'

export interface LateDepositsOptions {
  store: DepositStore
  nodes: Nodes
  /** Its `deposits` are the ones kept here. */
  watch: Watch
  deposits: Map<string, Deposit>
  votes: Votes
  steps: Steps
  reading: Reader
  now: () => Date
}

/** How far the chain's clock may be behind the one that dates orders. */
const CLOCKS_APART_S = 60
const FIRST_STEP_BACK = 64
const CLOSE_EVERY_MS = 60_000
const router = new Interface(paymentRouterAbi)

export type LateDeposits = ReturnType<typeof createLateDeposits>

/**
 * Keeps the deposit addresses that the scan watches. One that is new, or at which money was found after its time, is read up to the cursor
 * first, under the same checks as everything else, and is level with the scan from then on.
 */
export function createLateDeposits({ store, nodes, watch, deposits, votes, steps, reading, now }: LateDepositsOptions) {
  const fees = new Map<string, number>()
  let closedAt = Number.NEGATIVE_INFINITY

  const feeOf = async (target: string): Promise<number> => {
    const data = router.encodeFunctionData('feeBps')
    const ask = (node: Node) => node.ask([{ method: 'eth_call', params: [{ to: target, data }, 'latest'] }])
    const bps = fees.get(target) ?? Number((await nodes.use(ask)).results[0])
    fees.set(target, bps)
    return bps
  }
  const toDeposit = async ({ address, memo, merchant, router }: Watched): Promise<Deposit> => ({
    ...{ address, memo, merchant, router, feeBps: await feeOf(router) },
  })
  /** The first block in which an order created then can have been paid. */
  const firstBlock = async ({ cursor, remembered }: Lead, createdAt: Date): Promise<number> => {
    const since = createdAt.getTime() / 1_000 - CLOCKS_APART_S
    const before = remembered.find(({ time }) => time < since)
    if (before) return before.number + 1
    // It was created before anything that is remembered: reading a little too much does no harm.
    let first = remembered.at(-1)?.number ?? cursor.scanned.number
    for (let back = FIRST_STEP_BACK; first > cursor.startBlock; back *= 2) {
      first = Math.max(cursor.startBlock, first - back)
      const at = first
      if ((await nodes.use(node => readBlock(node, at))).time < since) break
    }
    return Math.max(first, 0)
  }
  const readUpTo = async ({ cursor }: Lead, first: number, wanted: Watch): Promise<TimedPayment[]> => {
    const found: TimedPayment[] = []
    for (let from = first; from <= cursor.scanned.number; ) {
      const to = Math.min(cursor.scanned.number, from + reading.span() - 1)
      const { last, payments, ...answer } = await nodes.use(node => readPassed(node, wanted, from, to, cursor.scanned))
      reading.grow(answer)
      if ((await votes.onSpan(from, last, payments, wanted)) !== 'ours')
        throw new UndecidedError('the RPC end points do not agree on the transfers to new deposit addresses')
      for (const payment of payments) found.push(payment)
      from = to + 1
    }
    return found
  }
  const close = async (lead: Lead) => {
    if (performance.now() - closedAt < CLOSE_EVERY_MS) return
    closedAt = performance.now()
    for (const address of await store.close(lead.epoch, now(), lead.cursor.confirmed.number)) deposits.delete(address)
  }
  return {
    /** Those that are level with the cursor, under a new lead. */
    async load(): Promise<void> {
      deposits.clear()
      for (const one of await store.level()) deposits.set(one.address, await toDeposit(one))
    },
    /** Brings the others level; answers whether there were any. */
    async catchUp(lead: Lead): Promise<boolean> {
      await close(lead)
      const late = await store.late(now())
      if (late.length === 0) return false
      const firsts = late.map(({ readTo, createdAt }) => (readTo === null ? firstBlock(lead, createdAt) : readTo + 1))
      const wanted = new Map<string, Deposit>()
      for (const one of late) wanted.set(one.address, await toDeposit(one))
      const first = Math.min(...(await Promise.all(firsts)))
      const payments = await readUpTo(lead, first, { ...watch, routers: [], deposits: wanted })
      // What was read ahead was read without them.
      reading.restart()
      await steps.takeInPassed(lead, payments, { level: late.map(({ orderId }) => orderId) })
      for (const [address, deposit] of wanted) deposits.set(address, deposit)
      return true
    },
  }
}
