import { accountRules } from '@ponte/api-gateway'
import { attempted } from '../explore/explorer'
import { GUARD, UNCHANGED } from '../explore/payout'
import { sampledRuns } from './traces'

/** Rules of the payout guard that a run asks; each may be put wrong. */
export type GuardRules = typeof accountRules
type Member = accountRules.Member
type Payout = accountRules.Payout

interface ModelChange {
  id: number
  kind: 'add' | 'remove' | 'payout'
  who: string
  by: string
  objected: boolean
  confirmed: string
  signed: boolean
}
/** The variables of spec/payout.qnt. */
interface ModelState {
  action_: { name: string; id: number; by: string; kind: ModelChange['kind']; who: string; signed: boolean }
  now: number
  owners: string[]
  changes: ModelChange[]
  change: ModelChange[]
  address: string
  requests: number
}
export type PayoutTrace = readonly ModelState[]

export const payoutTraces = (count: number, seed: number): Promise<PayoutTrace[]> => sampledRuns('payout', 'step', count, seed, 80)

const HALF_DAY_MS = 43_200_000
const at = (step: number) => new Date(Date.UTC(2026, 0, 1) + step * HALF_DAY_MS)
const PEOPLE = ['ana', 'bruno', 'carla', 'dora', 'thief']
const FIRST = ['ana', 'bruno', 'carla']
const memberOf = (name: string, role: string): Member => ({
  ...{ id: name, merchantId: 'm', userId: name, email: null, role, createdAt: at(-100) },
})

interface World {
  members: readonly Member[]
  payout: Payout
  since: ReadonlyMap<string, number>
}

/** The rules of owners and payout addresses, asked for each step of a run; names the first step after which the two differ, null when none does. */
export function payoutDifference(trace: PayoutTrace, rules: GuardRules = accountRules): string | null {
  let world: World = {
    // Who is no owner is a viewer, so that the model's additions are changes of a member.
    members: PEOPLE.map(name => memberOf(name, FIRST.includes(name) ? 'owner' : 'viewer')),
    payout: UNCHANGED,
    since: new Map(FIRST.map(name => [name, -100])),
  }
  for (const [index, state] of trace.entries()) {
    const next = attempted(() => taken(world, state, rules))
    const isRefused = state.action_.name.startsWith('refuse ')
    if (isRefused && next !== null && next !== world) return differs('the model refuses it, and the rules take it')
    if (!isRefused && next === null) return differs('the model takes it, and the rules refuse it')
    if (!isRefused && next) world = next
    const [expected, outcome] = [JSON.stringify(expectedOf(state)), JSON.stringify(outcomeOf(world))]
    if (expected !== outcome) return differs(`the model says ${expected}, and it is ${outcome}`)

    function differs(what: string): string {
      const before = trace.slice(0, index + 1).map(({ now, action_ }) => `${now}: ${Object.values(action_).join(' ')}`)
      return `step ${index}: ${what}, after\n${before.join('\n')}`
    }
  }
  return null
}

/** The world after a step; the same one when the rules leave it as it is. */
function taken(world: World, { action_, now, requests }: ModelState, rules: GuardRules): World {
  const { members, payout, since } = world
  const { by, kind, who } = action_
  const id = `${action_.id}`
  const owner = { userId: by, at: at(now) }
  const decided = (
    { put, removed, ownerChanges = payout.ownerChanges }: accountRules.MemberDecision,
    held = payout.payoutHeldUntil,
  ): World => {
    const gone = put ?? removed
    // In the model who is removed can be added again.
    const after = removed ? { ...removed, role: 'viewer' } : put
    const left = after && after.role !== 'owner' ? after : undefined
    const moved = { ...payout, ownerChanges, payoutHeldUntil: held }
    const freed = left ? rules.payoutWithoutUser(moved, left.userId) : moved
    return {
      members: after ? members.map(member => (member.id === gone?.id ? after : member)) : members,
      payout: { ...freed, pendingPayout: rules.retimed(freed, GUARD) },
      since: after?.role === 'owner' ? new Map([...since, [after.userId, now]]) : since,
    }
  }
  switch (action_.name.replace('refuse ', '')) {
    case 'begin': {
      const request = { id: action_.name === 'begin' ? id : `${requests + 1}`, ...owner, keepsKeys: false }
      return decided(rules.decideMember(members, payout, who, kind === 'add' ? 'owner' : null, request, GUARD))
    }
    case 'undo':
      return kind === 'payout'
        ? { ...world, payout: rules.cancelPayout(payout, id) }
        : decided({ ownerChanges: rules.undoOwnerChange(members, payout, id, owner) })
    case 'confirm':
      return decided({ ownerChanges: rules.confirmOwnerChange(members, payout, id, owner, GUARD) })
    case 'mature': {
      const due = rules.activateOwnerChange(members, payout, at(now))
      if (due?.change.id !== id) return world
      const isOf = due.effect.put || due.effect.removed
      const held = isOf ? new Date(at(now).getTime() + GUARD.payoutHoldMs) : payout.payoutHeldUntil
      return decided({ ...due.effect, ownerChanges: due.ownerChanges }, held)
    }
    case 'begin payout': {
      const owners = accountRules.ownersAmong(members)
      const next = rules.requestPayout(payout, who, { id, ...owner, owners, isNew: false }, GUARD)
      return { ...world, payout: action_.signed ? rules.signPayout(next, id, { message: '', signature: '', at: at(now) }, GUARD) : next }
    }
    case 'approve':
      return { ...world, payout: rules.approvePayout(payout, id, { ...owner, since: at(since.get(by) ?? now) }, GUARD) }
    case 'mature payout': {
      const next = rules.activatePayout(payout, at(now))
      return next === payout ? world : { ...world, payout: next }
    }
    default:
      return world
  }
}

/** Owners, address and each change that waits, in the order of requests: what a merchant's owners see. */
function outcomeOf({ members, payout: { payoutAddress, ownerChanges, pendingPayout } }: World) {
  return {
    owners: accountRules.ownersAmong(members).toSorted(),
    address: payoutAddress,
    changes: ownerChanges.map(({ id, role, memberId, requestedBy, objectedAt, confirmedBy }) =>
      [id, role === 'owner' ? 'add' : 'remove', memberId, requestedBy, objectedAt !== null, confirmedBy ?? ''].join(' '),
    ),
    change: pendingPayout && [pendingPayout.id, pendingPayout.address, pendingPayout.requestedBy, pendingPayout.approvedBy ?? ''].join(' '),
  }
}

function expectedOf({ owners, address, changes, change: [change] }: ModelState): ReturnType<typeof outcomeOf> {
  return {
    owners: owners.toSorted(),
    address,
    changes: changes
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, kind, who, by, objected, confirmed }) => [id, kind, who, by, objected, confirmed].join(' ')),
    change: change ? [change.id, change.who, change.by, change.confirmed].join(' ') : null,
  }
}
