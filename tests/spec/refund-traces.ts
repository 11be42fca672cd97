import { refundRules } from '@ponte/orders'
import { attempted } from '../explore/explorer'
import { sampledRuns } from './traces'

type Refund = refundRules.Refund

interface ModelNonce {
  refund: number
  payee: number
  amount: number
}
/** The variables of spec/refunds.qnt. */
interface ModelState {
  did: string
  now: number
  transferred: Map<ModelNonce, number>
  cancelled: Map<ModelNonce, number>
  status: Map<number, 'none' | 'open' | 'signed' | 'confirmed' | 'cancelled'>
  amount: Map<number, number>
  payee: Map<number, number>
  signatures: (ModelNonce & { validBefore: number })[]
}
export type RefundTrace = readonly ModelState[]

export const refundTraces = (count: number, seed: number): Promise<RefundTrace[]> => sampledRuns('refunds', 'step', count, seed, 30)

const CAME = 100n
const DEPTH = 2
const REFUNDS = [0, 1]
const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000)
const payeeOf = (payee: number) => `0x0${payee}`
const nonceOf = ({ refund, payee, amount }: ModelNonce) => refundRules.refundNonce(`refund ${refund}`, payeeOf(payee), BigInt(amount))

/** What orders would know of the chain of the model. */
function viewOf({ now, transferred, cancelled }: ModelState): refundRules.RefundView {
  const factsOf = (mined: Map<ModelNonce, number>, end: 'transferred' | 'cancelled') =>
    [...mined].filter(([, at]) => at <= now).map(([nonce, at]) => ({ nonce: nonceOf(nonce), end, isConfirmed: at <= now - DEPTH }))
  const facts = [...factsOf(transferred, 'transferred'), ...factsOf(cancelled, 'cancelled')]
  return { facts, chain: { time: now < DEPTH ? null : second(now - DEPTH) }, walletUnits: null }
}

/** The rules of refunds, asked for each step of a run; names the first step after which the two differ, null when none does. */
export function refundDifference(trace: RefundTrace, rules: typeof refundRules = refundRules): string | null {
  const refunds = new Map<number, Refund>()
  for (const [index, state] of trace.entries()) {
    const before = trace[index - 1]
    const differs = before ? step(refunds, before, state, rules) : null
    if (differs !== null)
      return `step ${index}, ${state.did}: ${differs}, after ${trace
        .slice(0, index)
        .map(({ did }) => did)
        .join(', ')}`
  }
  return null
}

function step(refunds: Map<number, Refund>, before: ModelState, state: ModelState, rules: typeof refundRules): string | null {
  const view = viewOf(before)
  const changed = REFUNDS.find(
    each => before.status.get(each) !== state.status.get(each) || before.payee.get(each) !== state.payee.get(each),
  )
  const all = () => [...refunds.values()]
  const refund = refunds.get(changed ?? -1)
  const put = (work: (known: Refund) => Refund): string | null => {
    if (changed === undefined || !refund) return 'there is no refund'
    const next = attempted(() => work(refund))
    if (next === null) return 'the model takes it, and the rules refuse it'
    refunds.set(changed, next)
    return null
  }
  const refused = (...works: (() => unknown)[]) =>
    works.some(work => attempted(work) !== null) ? 'the model refuses it, and the rules take it' : null
  const done = (): string | null => {
    if (state.did.startsWith('refuse ')) {
      const one = refunds.get(Number(state.did.slice(-1)))
      const more = 1n + CAME - rules.promisedUnits(all(), view)
      if (state.did === 'refuse more') return refused(() => rules.openRefund({ id: 'more', units: more, payee: null }, all(), CAME, view))
      if (!one) return 'there is no refund'
      const signature = { nonce: nonceOfRefund(one), payee: one.payee ?? '', units: one.units, validBefore: second(state.now + 99) }
      const works = [
        () => rules.redirectRefund(one, '0x09', view),
        () => rules.cancelRefund(one, view, second(0)),
        () => rules.signRefund(one, signature, view),
      ]
      return refused(...works)
    }
    if (state.did === 'create' && changed !== undefined) {
      const asked = {
        id: `refund ${changed}`,
        units: BigInt(state.amount.get(changed) ?? 0),
        payee: payeeOf(state.payee.get(changed) ?? 0),
      }
      const made = attempted(() => rules.openRefund(asked, all(), CAME, view))
      if (made === null) return 'the model takes it, and the rules refuse it'
      refunds.set(changed, made)
    }
    if (state.did === 'redirect') return put(known => rules.redirectRefund(known, payeeOf(state.payee.get(changed ?? -1) ?? 0), view))
    if (state.did === 'withdraw') return put(known => rules.cancelRefund(known, view, second(0)))
    const made = state.signatures.find(one => one.refund === changed && one.validBefore === before.now + LIFE && isCurrent(state, one))
    if (state.did === 'sign' && made)
      return put(known => {
        const { payee, amount, validBefore } = made
        return rules.signRefund(
          known,
          { nonce: nonceOf(made), payee: payeeOf(payee), units: BigInt(amount), validBefore: second(validBefore) },
          view,
        )
      })
    return null
  }
  return done() ?? statuses(refunds, state, rules)
}

const LIFE = 3
const nonceOfRefund = ({ id, payee, units }: Refund) => refundRules.refundNonce(id, payee ?? '', units)
const isCurrent = ({ payee, amount }: ModelState, one: ModelNonce) =>
  payee.get(one.refund) === one.payee && amount.get(one.refund) === one.amount

/** What the rules may call a refund that the model calls so: between two of its steps the chain moves on by itself. */
const ALIKE: Record<string, readonly string[]> = {
  open: ['awaiting_signature'],
  signed: ['submitted', 'awaiting_signature', 'confirmed'],
  confirmed: ['confirmed'],
  cancelled: ['cancelled'],
}

function statuses(refunds: Map<number, Refund>, state: ModelState, rules: typeof refundRules): string | null {
  for (const [index, status] of state.status) {
    const refund = refunds.get(index)
    const now = refund ? rules.refundStatus(refund, viewOf(state)) : 'none'
    if (!(ALIKE[status] ?? ['none']).includes(now)) return `the model says ${status}, and refund ${index} is ${now}`
  }
  return null
}
