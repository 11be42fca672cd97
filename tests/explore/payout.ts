import { accountRules } from '@ponte/api-gateway'
import { attempted, type Model, type Step } from './explorer'

export type PayoutRules = typeof accountRules
type Member = accountRules.Member
type Payout = accountRules.Payout

/** Two owners and a thief who has a fresh session of one of them all the time. A step of time is half a day. */
export interface PayoutScope {
  /** The thief is a third owner, who turned bad. */
  isOwner: boolean
  last: number
  guard: accountRules.PayoutGuard
  /** Every owner looks at what they were notified of before this time has passed. */
  reaction: number
}

export interface PayoutState {
  now: number
  members: readonly Member[]
  payout: Payout
  /** Since when each is an owner. */
  since: ReadonlyMap<string, number>
  /** Ids of what the thief began or undid, and when; the owners undo it in time. */
  tampered: ReadonlyMap<string, number>
  /** When a change of the owners was last in force; null before the first. */
  changedAt: number | null
  /** What went wrong in the step that led here. */
  fault: string | null
}

const HALF_DAY = 43_200_000
const BEGAN = Date.UTC(2026, 0, 1)
const at = (step: number) => new Date(BEGAN + step * HALF_DAY)
/** The guard of production, in the order of its lengths: 24, 48, 48 and 72 hours. */
export const GUARD: accountRules.PayoutGuard = {
  ...{ delayMs: 2 * HALF_DAY, unsignedDelayMs: 4 * HALF_DAY },
  ...{ ownerDelayMs: 4 * HALF_DAY, payoutHoldMs: 6 * HALF_DAY },
}

/** Ana is paid, and nothing waits. */
export const UNCHANGED: Payout = {
  ...{ payoutAddress: 'ana', payoutAddresses: null, payoutProof: null, payoutIsContract: false, clearedPayoutAddress: null },
  ...{ pendingPayout: null, ownerChanges: [], payoutHeldUntil: null, frozenAt: null },
}
const VICTIM = 'ana'
const HONEST = ['ana', 'bruno']
const memberOf = (userId: string, role: string): Member => ({ id: userId, merchantId: 'm', userId, email: null, role, createdAt: at(-100) })

export function payoutModel({ isOwner, last, guard, reaction }: PayoutScope, rules: PayoutRules = accountRules): Model<PayoutState> {
  const owning = isOwner ? [...HONEST, 'thief'] : HONEST
  return {
    start: {
      now: 0,
      members: owning.map(name => memberOf(name, 'owner')),
      payout: UNCHANGED,
      since: new Map(owning.map(name => [name, -100])),
      tampered: new Map(),
      ...{ changedAt: null, fault: null },
    },
    key: keyOf,
    *steps(state) {
      yield* thief(state)
      yield* owners(state)
      yield* time(state)
    },
    faults: faultsOf,
  }

  function* thief(state: PayoutState): Iterable<Step<PayoutState>> {
    const { members, payout, now } = state
    const owners = accountRules.ownersAmong(members)
    // With the session of the victim, and with their own once they belong to the merchant.
    for (const userId of [VICTIM, 'thief'].filter(userId => owners.includes(userId))) {
      const requestOf = (id: string) => ({ id: `change of ${id} at ${now}`, userId, at: at(now), keepsKeys: false })
      const by = userId === VICTIM ? 'the thief' : 'the thief, as an owner,'
      if (!members.some(one => one.userId === 'thief')) {
        const request = requestOf('thief')
        const decision = attempted(() => rules.joinTeam(members, payout, memberOf('thief', 'owner'), request, guard))
        if (decision) yield { name: `${by} joins as an owner`, next: began(decided(state, decision), request.id) }
      }
      for (const { id, role } of members) {
        const request = requestOf(id)
        if (id === 'thief' && role !== 'owner') {
          const decision = attempted(() => rules.decideMember(members, payout, id, 'owner', request, guard))
          if (decision) yield { name: `${by} is to be an owner`, next: began(decided(state, decision), request.id) }
        }
        if (id !== 'thief') {
          const decision = attempted(() => rules.decideMember(members, payout, id, null, request, guard))
          if (decision) yield { name: `${by} removes ${id}`, next: began(decided(state, decision), request.id) }
        }
      }
      const asked = { ...requestOf('payout'), id: `payout to the thief at ${now}`, owners, isNew: false }
      const next = attempted(() => rules.requestPayout(payout, 'thief', asked, guard))
      if (next && next !== payout) {
        yield { name: `${by} asks for another payout address`, next: began({ ...state, payout: next }, asked.id) }
        const signed = attempted(() => rules.signPayout(next, asked.id, { message: '', signature: '', at: at(now) }, guard))
        if (signed)
          yield { name: `${by} asks for another payout address and signs it`, next: began({ ...state, payout: signed }, asked.id) }
      }
      const pending = payout.pendingPayout
      if (pending?.address === 'thief') {
        const owner = { userId, since: at(state.since.get(userId) ?? now), at: at(now) }
        const agreed = attempted(() => rules.approvePayout(payout, pending.id, owner, guard))
        if (agreed) yield { name: `${by} agrees to it`, next: { ...state, payout: agreed } }
      }
      if (pending)
        yield {
          name: `${by} cancels the change of the payout address`,
          next: undone(state, { ...payout, pendingPayout: null }, pending.id),
        }
    }
    yield* undoing(state, VICTIM, 'the thief')
  }

  /** The owners undo what they did not want, and change the payout address themselves. */
  function* owners(state: PayoutState): Iterable<Step<PayoutState>> {
    const { payout, tampered, members, now } = state
    for (const name of HONEST) yield* undoing(state, name, name, id => tampered.has(id))
    const pending = payout.pendingPayout
    if (pending && tampered.has(pending.id))
      yield { name: 'bruno cancels it', next: undone(state, accountRules.cancelPayout(payout, pending.id), pending.id) }
    const asked = {
      id: `bruno payout ${now}`,
      userId: 'bruno',
      at: at(now),
      owners: accountRules.ownersAmong(members),
      isNew: false,
      keepsKeys: false,
    }
    if (!pending && payout.payoutAddress === 'ana' && accountRules.ownersAmong(members).includes('bruno')) {
      const next = attempted(() => rules.requestPayout(payout, 'bruno', asked, guard))
      const signed = next && attempted(() => rules.signPayout(next, asked.id, { message: '', signature: '', at: at(now) }, guard))
      if (signed) yield { name: 'bruno asks for another payout address and signs it', next: { ...state, payout: signed } }
    }
    // Who invited the thief also removes them; so does bruno, an owner that turned bad.
    if (accountRules.ownersAmong(members).includes('bruno') && members.some(({ id }) => id === 'thief')) {
      const request = { id: `bruno ${now}`, userId: 'bruno', at: at(now), keepsKeys: false }
      const decision = attempted(() => rules.decideMember(members, payout, 'thief', null, request, guard))
      if (decision) yield { name: 'bruno removes the thief', next: decided(state, decision) }
    }
  }

  function* undoing(
    state: PayoutState,
    userId: string,
    by: string,
    isWanted: (id: string) => boolean = () => true,
  ): Iterable<Step<PayoutState>> {
    for (const { id } of state.payout.ownerChanges.filter(change => isWanted(change.id))) {
      const ownerChanges = attempted(() => rules.undoOwnerChange(state.members, state.payout, id, { userId, at: at(state.now) }))
      if (ownerChanges) yield { name: `${by} undoes ${id}`, next: undone(decided(state, { ownerChanges }), null, id) }
    }
  }

  function* time(state: PayoutState): Iterable<Step<PayoutState>> {
    const { now, members, payout, tampered } = state
    const due = rules.activateOwnerChange(members, payout, at(now))
    if (due) {
      const held =
        due.effect.put || due.effect.removed ? { ...payout, payoutHeldUntil: new Date(at(now).getTime() + guard.payoutHoldMs) } : payout
      const changedAt = held === payout ? state.changedAt : now
      const next = decided({ ...state, payout: held, changedAt }, { ...due.effect, ownerChanges: due.ownerChanges })
      yield { name: `what has waited is in force: ${due.change.id}`, next: undone(next, null, due.change.id) }
    }
    const paid = rules.activatePayout(payout, at(now))
    if (paid !== payout) {
      const isHeld = state.changedAt !== null && (now - state.changedAt) * HALF_DAY < GUARD.payoutHoldMs
      const next = { ...state, fault: isHeld ? 'an address is in force within three days after the owners changed' : null }
      yield { name: 'the payout address that has waited is in force', next: undone(next, paid, payout.pendingPayout?.id ?? '') }
    }
    const isInTime = [...tampered.values()].every(begun => now + 1 < begun + reaction)
    if (now < last && isInTime) yield { name: 'half a day passes', next: { ...state, now: now + 1 } }
  }

  function decided(
    state: PayoutState,
    { put, removed, ownerChanges = state.payout.ownerChanges }: accountRules.MemberDecision,
  ): PayoutState {
    const gone = put ?? removed
    const members = [...state.members.filter(({ id }) => id !== gone?.id), ...(put ? [put] : [])].sort((a, b) => (a.id < b.id ? -1 : 1))
    const left = removed ?? (put && !accountRules.permissionsOf(put.role).includes('payout:write') ? put : undefined)
    const moved = { ...state.payout, ownerChanges }
    const freed = left ? rules.payoutWithoutUser(moved, left.userId) : moved
    const since = put?.role === 'owner' ? new Map([...state.since, [put.userId, state.now]]) : state.since
    return { ...state, members, since, payout: { ...freed, pendingPayout: accountRules.retimed(freed, guard) } }
  }

  /** Judged by what became of the merchant. */
  function faultsOf(state: PayoutState): string[] {
    const { payout, members, tampered, fault } = state
    const owning = members.filter(({ role }) => role === 'owner').map(({ userId }) => userId)
    return [
      ...(fault === null ? [] : [fault]),
      ...(payout.payoutAddress === 'thief' ? ["the thief's address is in force"] : []),
      ...HONEST.filter(name => !owning.includes(name)).map(name => `${name} is no owner any more`),
      ...(!isOwner && owning.includes('thief') ? ['the thief is an owner'] : []),
      // Time goes on only once they have: who cannot undo it would stop the walk, and no fault would be seen.
      ...payout.ownerChanges
        .filter(({ id }) => tampered.has(id) && !HONEST.some(name => [...undoing(state, name, name, one => one === id)].length > 0))
        .map(({ memberId }) => `no owner of before can undo what the thief wants of ${memberId}`),
    ]
  }
}

const began = (state: PayoutState, id: string): PayoutState => ({
  ...state,
  tampered: [...state.payout.ownerChanges, state.payout.pendingPayout].some(one => one?.id === id)
    ? new Map([...state.tampered, [id, state.now]])
    : state.tampered,
})

const undone = (state: PayoutState, payout: Payout | null, id: string): PayoutState => ({
  ...state,
  ...(payout ? { payout } : {}),
  tampered: new Map([...state.tampered].filter(([one]) => one !== id)),
})

const keyOf = ({ now, members, payout, since, tampered, changedAt, fault }: PayoutState): string =>
  JSON.stringify([
    members.map(({ id, role }) => id + role),
    payout.payoutAddress,
    payout.payoutHeldUntil && Math.max(0, stepOf(payout.payoutHeldUntil) - now),
    payout.pendingPayout && { ...payout.pendingPayout, requestedAt: 0, id: 0, activatesAt: stepOf(payout.pendingPayout.activatesAt) - now },
    payout.pendingPayout && now - stepOf(payout.pendingPayout.requestedAt),
    payout.ownerChanges
      .map(({ id, memberId, role, activatesAt, owners, requestedBy, objectedAt, confirmedBy }) => [
        memberId,
        role,
        stepOf(activatesAt) - now,
        owners,
        requestedBy,
        objectedAt !== null,
        confirmedBy,
        tampered.get(id) === undefined ? null : now - (tampered.get(id) ?? 0),
      ])
      .sort(),
    [...since].filter(([, step]) => step >= 0),
    payout.pendingPayout && tampered.has(payout.pendingPayout.id) ? now - (tampered.get(payout.pendingPayout.id) ?? 0) : null,
    ...[changedAt, fault, now],
  ])

const stepOf = (date: Date): number => (date.getTime() - BEGAN) / HALF_DAY
