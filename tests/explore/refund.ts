import { refundRules } from '@ponte/orders'
import { attempted, type Model, type Step } from './explorer'

export type RefundRules = Pick<typeof refundRules, 'openRefund' | 'redirectRefund' | 'cancelRefund' | 'signRefund' | 'refundStatus'>
type Refund = refundRules.Refund
type Signature = refundRules.RefundSignature

/** Two refunds of an order to which 1.00 came, to two payees, on a chain that reorganises and may halt while our clock goes on. */
export interface RefundScope {
  units: readonly bigint[]
  /** The last block; one is mined a second, and is confirmed when one stands above it. */
  last: number
  /** For how long a signature is good. */
  lifeS: number
  /** By how much our clock may come to be ahead of the chain. */
  ahead: readonly number[]
}

export interface RefundState {
  now: number
  /** Our clock is so far ahead of the chain. */
  ahead: number
  refunds: readonly Refund[]
  /** What the chain holds of each nonce, and since which block. */
  ends: ReadonlyMap<string, { end: 'transferred' | 'cancelled'; block: number }>
  /** The block up to which orders has read what is confirmed; -1 while nothing. */
  read: number
}

const CAME = 100n
const DEPTH = 1
const PAYEES = ['0x0A', '0x0B']
const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000)
const secondOf = (at: Date) => (at.getTime() - second(0).getTime()) / 1_000

/** What a rule is asked with: what is confirmed as far as orders has read, and what it has only seen. */
export function trueView({ ends, read, now }: RefundState): refundRules.RefundView {
  const facts = [...ends].map(([nonce, { end, block }]) => ({ nonce, end, isConfirmed: block <= read }))
  return { facts, chain: { time: read < 0 || now < 0 ? null : second(read) }, walletUnits: null }
}

/** The wrong rule of the first design: a signature counts as void once our own clock is past its end. */
export const byOurClock = (state: RefundState): refundRules.RefundView => ({
  ...trueView(state),
  chain: { time: second(state.now + state.ahead) },
})

/** By the wrong rule, and what the walk must call it. */
export const refundFaults = [
  { what: 'a signature is void by our clock: a cancelled refund is paid', view: byOurClock, finds: /^a cancelled refund is paid$/ },
  { what: 'a signature is void by our clock: one refund is paid twice', view: byOurClock, finds: /^one refund is paid twice$/ },
]

export function refundModel(scope: RefundScope, rules: RefundRules = refundRules, view: typeof trueView = trueView): Model<RefundState> {
  const nonces = new Map<string, string>()
  const nonceOf = (id: string, payee: string, units: bigint) => {
    const key = `${id} ${payee} ${units}`
    const nonce = nonces.get(key) ?? refundRules.refundNonce(id, payee, units)
    nonces.set(key, nonce)
    return nonce
  }
  return {
    start: { now: 0, ahead: 0, refunds: [], ends: new Map(), read: -1 },
    key: keyOf,
    *steps(state) {
      yield* chainSteps(state)
      yield* commands(state)
    },
    faults: faultsOf,
  }

  function* chainSteps(state: RefundState): Iterable<Step<RefundState>> {
    const { now, ends, refunds, read } = state
    if (now < scope.last) yield { name: `block ${now + 1} is mined`, next: { ...state, now: now + 1 } }
    for (const ahead of scope.ahead)
      if (ahead > state.ahead) yield { name: `the chain halts: our clock is ${ahead} s ahead`, next: { ...state, ahead } }
    if (now - DEPTH > read)
      yield { name: `orders reads what is confirmed up to block ${now - DEPTH}`, next: { ...state, read: now - DEPTH } }
    for (const { id, signatures } of refunds)
      for (const signature of distinct(signatures)) {
        const { nonce, payee, validBefore } = signature
        const known = ends.get(nonce)
        const about = `${id} to ${payee}`
        if (!known) {
          const mined = (end: 'transferred' | 'cancelled') => ({ ...state, ends: new Map([...ends, [nonce, { end, block: now }]]) })
          if (now < secondOf(validBefore))
            yield { name: `a stranger submits the signature of ${about}: money moves`, next: mined('transferred') }
          yield { name: `the wallet cancels the authorization of ${about}`, next: mined('cancelled') }
        } else if (known.block > now - DEPTH) {
          const without = new Map([...ends].filter(([one]) => one !== nonce))
          yield { name: `a reorganisation takes back what was mined of ${about}`, next: { ...state, ends: without } }
        }
      }
  }

  function* commands(state: RefundState): Iterable<Step<RefundState>> {
    const { refunds, now, ahead } = state
    const seen = view(state)
    const put = (changed: Refund) => ({ ...state, refunds: refunds.map(one => (one.id === changed.id ? changed : one)) })
    if (refunds.length < 2)
      for (const units of scope.units)
        for (const payee of PAYEES) {
          const made = attempted(() => rules.openRefund({ id: `refund ${refunds.length + 1}`, units, payee }, refunds, CAME, seen))
          if (made) yield { name: `${made.id} of ${units} cents to ${payee} is made`, next: { ...state, refunds: [...refunds, made] } }
        }
    for (const refund of refunds) {
      for (const payee of PAYEES.filter(one => one !== refund.payee)) {
        const changed = attempted(() => rules.redirectRefund(refund, payee, seen))
        if (changed) yield { name: `${refund.id} goes to ${payee} instead`, next: put(changed) }
      }
      const cancelled = attempted(() => rules.cancelRefund(refund, seen, second(0)))
      if (cancelled && cancelled !== refund) yield { name: `${refund.id} is cancelled`, next: put(cancelled) }
      const { id, units, payee } = refund
      if (payee === null) continue
      const signature: Signature = { nonce: nonceOf(id, payee, units), payee, units, validBefore: second(now + ahead + scope.lifeS) }
      const signed = attempted(() => rules.signRefund(refund, signature, seen))
      if (signed) yield { name: `${id} to ${payee} is signed, good until second ${now + ahead + scope.lifeS}`, next: put(signed) }
    }
  }

  /** Judged by what moved on the chain alone. */
  function faultsOf(state: RefundState): string[] {
    const { refunds, ends, now, read } = state
    const faults: string[] = []
    let returned = 0n
    for (const refund of refunds) {
      const moved = distinct(refund.signatures).filter(({ nonce }) => ends.get(nonce)?.end === 'transferred')
      returned += moved.reduce((sum, { units }) => sum + units, 0n)
      if (moved.length > 1) faults.push('one refund is paid twice')
      if (refund.cancelledAt !== null && moved.length > 0) faults.push('a cancelled refund is paid')
      const status = rules.refundStatus(refund, trueView(state))
      const isConfirmed = moved.some(({ nonce }) => (ends.get(nonce)?.block ?? now) <= read)
      if ((status === 'confirmed') !== isConfirmed) faults.push('a refund is not confirmed by what the confirmed chain holds')
    }
    if (returned > CAME) faults.push('more goes back than came')
    return faults
  }
}

const distinct = (signatures: readonly Signature[]): Signature[] => {
  const last = new Map(signatures.map(one => [one.nonce, one]))
  return [...last.values()]
}

const keyOf = ({ now, ahead, refunds, ends, read }: RefundState): string =>
  [
    `${now} ${ahead} ${read}`,
    refunds.map(
      ({ units, payee, cancelledAt, signatures }) =>
        `${units} ${payee} ${cancelledAt === null} ${signatures.map(({ nonce, validBefore }) => `${nonce.slice(2, 8)}${secondOf(validBefore)}`).join()}`,
    ),
    [...ends]
      .map(([nonce, { end, block }]) => `${nonce.slice(2, 8)}${end}${block > now - DEPTH || block > read ? block : 'past'}`)
      .sort()
      .join(),
  ].join('|')
