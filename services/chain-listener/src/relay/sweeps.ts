import { paymentRouterAbi } from '@ponte/payment-router'
import type { Logger } from '@ponte/service-kit'
import { Interface } from 'ethers'
import { type ChainClient, RevertError } from '../rpc/chain-client'
import type { Intent, NonceLine, Submission } from './line/nonce-line'
import { createRefusals, missingContracts } from './refusals'
import type { Payable, PayableStore } from './store/payables'

export interface SweepsOptions {
  chain: ChainClient
  token: string
  /** Only what these routers swept is read back from the chain. */
  routers: readonly string[]
  store: PayableStore
  line: NonceLine
  /** Smaller sweeps wait until the balance has grown. */
  minUnits: bigint
  batchMax: number
  /** Most gas of one sweep, and of all that go in one transaction. */
  gas: { one: bigint; batch: bigint }
  now: () => Date
  logger: Logger
}

/** Batches of one turn: however many cannot be swept, what is already sent is followed in between. */
const PASSES_MAX = 20
/** Addresses whose balances are read in one turn. */
const LOOKED_AT_ONCE = 2_000
/** An unknown reason is published when it has shown itself so often. */
const UNCERTAIN_UNTIL = 2

const router = new Interface(paymentRouterAbi)

/** Money at deposit addresses: balances read at a confirmed block where the scan saw money come or go, and swept in batches. */
export function createSweeps(options: SweepsOptions) {
  const { chain, store, line, minUnits, gas, logger, now } = options
  const batchMax = Math.max(1, Math.min(options.batchMax, Number(gas.batch / gas.one)))
  const reasonOf = createRefusals(chain, options.token)

  /** The router's answer at the head for each of these. A call that fails as a whole is tried in halves. */
  const rehearse = async (target: string, some: readonly Payable[]): Promise<bigint[]> => {
    try {
      const answer = await chain.call({ from: await line.address(), to: target, data: sweepData(some, true) })
      const [amounts] = router.decodeFunctionResult('sweepMany', answer)
      return [...amounts]
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      if (some.length === 1) return [0n]
      const middle = Math.floor(some.length / 2)
      return [...(await rehearse(target, some.slice(0, middle))), ...(await rehearse(target, some.slice(middle)))]
    }
  }
  const refuse = async (epoch: bigint, refused: readonly Payable[]): Promise<void> => {
    const refusals: { orderId: string; reason: Payable['blockedReason'] }[] = []
    const reasons = new Map<string, Payable['blockedReason']>()
    for (const one of refused) {
      // Of a merchant's deposits at one router all are refused alike, however many there are.
      const alike = `${one.merchant} ${one.router} ${one.merchantIsContract}`
      if (!reasons.has(alike)) reasons.set(alike, await reasonOf(one))
      const known = reasons.get(alike)
      refusals.push({ orderId: one.orderId, reason: known ?? (one.failures >= UNCERTAIN_UNTIL ? 'sweep_refused' : null) })
    }
    await store.refused(epoch, refusals, now())
    logger.warn('deposits cannot be swept now', { deposits: refused.length, first: refused[0]?.address, reason: refusals[0]?.reason })
  }
  /** An address that cannot be swept is either empty by now, because anyone may sweep, or refused. */
  const putOff = async (epoch: bigint, block: number, stuck: readonly Payable[]): Promise<void> => {
    if (stuck.length === 0) return
    const balances = await chain.balances(
      stuck.flatMap(({ address }) => address ?? []),
      'latest',
    )
    const refused = stuck.filter((_, index) => (balances[index] ?? 0n) >= minUnits)
    const gone = stuck.filter(one => !refused.includes(one)).map(({ orderId }) => orderId)
    if (gone.length > 0) await store.emptied(epoch, gone, block, now())
    if (refused.length > 0) await refuse(epoch, refused)
  }
  const sweep = async (epoch: bigint, block: number, target: string, due: readonly Payable[]): Promise<boolean> => {
    const amounts = await rehearse(target, due)
    const missing = await missingContracts(chain, due)
    // Worth what it moves now: anyone may have swept since the last look.
    const full = due.flatMap((payable, index) => {
      const units = amounts[index] ?? 0n
      if (units < minUnits || missing.has(payable.merchant)) return []
      return [{ ...payable, heldUnits: units < payable.heldUnits ? units : payable.heldUnits }]
    })
    const isFull = new Set(full.map(({ orderId }) => orderId))
    await putOff(
      epoch,
      block,
      due.filter(({ orderId }) => !isFull.has(orderId)),
    )
    if (full.length === 0) return false
    const unblocked = full.filter(({ blockedReason }) => blockedReason !== null).map(({ orderId }) => orderId)
    if (unblocked.length > 0) await store.unblocked(epoch, unblocked)
    const { over } = await line.terms(intentOf(target, full))
    await wait(
      epoch,
      full.filter(({ orderId }) => over.has(orderId)),
      'over budget',
    )
    let within = full.filter(({ orderId }) => !over.has(orderId))
    if (within.length === 0) return false
    // As many as the account can still pay for: those that it cannot would keep all others waiting.
    while (within.length > 1 && !(await line.terms(intentOf(target, within))).affords)
      within = within.slice(0, Math.ceil(within.length / 2))
    const outcome = await submit(epoch, target, within)
    if (outcome === 'reverts') await putOff(epoch, block, within)
    else if (outcome !== 'sent' && outcome !== 'out_of_gas') await wait(epoch, within, outcome)
    return outcome === 'sent'
  }
  const intentOf = (target: string, full: readonly Payable[]): Intent => ({
    kind: 'sweep',
    wallet: false,
    orderIds: full.map(({ orderId }) => orderId),
    merchants: full.map(({ payee }) => payee),
    payer: null,
    salt: null,
    target,
    data: sweepData(full, full.length > 1),
    gasMax: gas.one * BigInt(full.length),
    worthUnits: full.reduce((sum, { heldUnits }) => sum + heldUnits, 0n),
    isNewPayer: false,
  })
  const submit = async (epoch: bigint, target: string, full: readonly Payable[]): Promise<Submission | 'reverts'> => {
    try {
      return await line.submit(epoch, intentOf(target, full))
    } catch (error) {
      if (!(error instanceof RevertError)) throw error
      logger.warn('a sweep would revert', { deposits: full.length, detail: error.message })
      return 'reverts'
    }
  }
  /** Nothing is wrong with them: gas is too dear now, or a budget is spent. */
  const wait = async (epoch: bigint, full: readonly Payable[], why: string): Promise<void> => {
    if (full.length === 0) return
    logger.info('deposits wait to be swept', { deposits: full.length, why })
    await store.putOff(
      epoch,
      full.map(({ orderId }) => orderId),
      now(),
    )
  }

  return {
    /** Reads what addresses hold at a confirmed block, where money was seen to come or go. Answers whether there is more to read. */
    async look(epoch: bigint, block: number): Promise<boolean> {
      const some = await store.moved(LOOKED_AT_ONCE)
      if (some.length === 0) return false
      const held = await chain.balances(
        some.flatMap(({ address }) => address ?? []),
        block,
      )
      const seen = some.map(({ orderId }, index) => ({ orderId, units: held[index] ?? 0n }))
      await store.looked(epoch, seen, block, now())
      return some.length === LOOKED_AT_ONCE
    },

    /** Sweeps what is worth it. Answers whether anything was submitted, or there may be more to look at. */
    async sweepDue(epoch: bigint, block: number): Promise<boolean> {
      let [submitted, pass] = [false, 0]
      const sender = (await line.address()).toLowerCase()
      for (; pass < PASSES_MAX && line.room() > 0; pass++) {
        // A balance below its share of gas waits, and is counted (`ponte_relayer_least_worth_units`).
        const least = await line.leastWorth(gas.one)
        const of = { minUnits: least > minUnits ? least : minUnits, routers: options.routers, limit: batchMax, sender }
        const due = await store.due(now(), of)
        const target = due[0]?.router
        if (target === undefined) break
        const ofRouter = due.filter(payable => payable.router === target)
        submitted = (await sweep(epoch, block, target, ofRouter)) || submitted
      }
      return submitted || pass === PASSES_MAX
    },
  }
}

const sweepData = (some: readonly Payable[], many: boolean): string => {
  const deposits = some.map(({ memo, merchant }) => ({ memo: `0x${memo}`, merchant }))
  const [first] = deposits
  return many || !first
    ? router.encodeFunctionData('sweepMany', [deposits])
    : router.encodeFunctionData('sweep', [first.memo, first.merchant])
}
