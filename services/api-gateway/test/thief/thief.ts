import { type CreateApiKey, KEY_SCOPES, type Operation, operationList, ROLES, type Role } from '@ponte/contracts'
import type { Random } from '@ponte/service-kit/testing'
import { type Member, mayMakeKey, permissionsOf } from '../../src/merchant/member'
import {
  activateOwnerChange,
  confirmOwnerChange,
  decideMember,
  joinTeam,
  type MemberDecision,
  type Ownership,
  ownersAmong,
  undoOwnerChange,
} from '../../src/merchant/owner-change'
import {
  activatePayout,
  approvePayout,
  cancelPayout,
  type Payout,
  type PayoutGuard,
  payoutWithoutUser,
  requestPayout,
  retimed,
  signPayout,
} from '../../src/merchant/payout-change'
import { isRecentLogin, showingOf } from '../../src/merchant/secret'

const HOUR = 3_600_000
export const START = Date.parse('2026-11-20T12:00:00.000Z')
/** A stolen key reaches none of these rules: it plays over HTTP. */
export const THIEVES = [
  'stale session',
  'fresh session',
  'stolen mail',
  ...ROLES.map(role => `insider ${role}` as const),
  'insider owner with a fresh session',
] as const
export type Thief = (typeof THIEVES)[number]

/** Roles that a merchant's secrets are for, whatever the table of permissions says. */
const SEES = ['owner', 'admin', 'developer']

const HONEST = 'address of the merchant'
const MINE = 'address of the thief'
/** Older than any login of the last minutes. */
const OLD_MS = 30 * 24 * HOUR
/** Operations by which a session comes to a secret. */
export const SHOWING: readonly (readonly [string, Operation])[] = operationList.filter(
  ([, { secret, credentials, permission }]) => secret && permission && credentials.includes('session'),
)
export interface Guard extends PayoutGuard {
  freshLoginMs: number
}

const SHOP: Member['role'][] = ['owner', 'owner', 'admin', 'finance', 'support', 'developer', 'viewer']

/** Findings of the oracle. */
export interface Outcome {
  violations: string[]
  /** The thief's successful steps, so that a test can see that the game is one. */
  done: Map<string, number>
}

/**
 * One thief against owners who look within a day at what they were notified of. The rules are those of the gateway; what the routes demand beside them
 * (permission, a fresh login) is demanded here.
 */
export function play(thief: Thief, random: Random, guard: Guard, steps = 40, table = SHOWING): Outcome {
  const { pick, below } = random
  // The mail of an only owner is the account: there is no other one who is notified.
  const hasMail = thief === 'stolen mail'
  const size = hasMail ? 2 + below(2) : 1 + below(3)
  const at = { ms: START }
  const now = () => new Date(at.ms)
  const insider = thief.startsWith('insider ') ? (thief.split(' ')[1] ?? null) : null
  let nextId = 0
  const newId = () => `id ${++nextId}`
  const memberOf = (userId: string, role: string): Member => ({
    ...{ id: newId(), merchantId: 'm', userId, email: null, role, createdAt: new Date(START - 1_000 * HOUR) },
  })
  let members = SHOP.filter((role, n) => role !== 'owner' || n < size).map((role, n) => memberOf(`user ${n}`, role))
  if (size > 2) members.push(memberOf('user 9', 'owner'))
  if (insider !== null) members.push(memberOf('insider', insider))
  const honestOwners = ownersAmong(members).filter(userId => userId !== 'insider')
  let payout: Payout & Ownership = {
    ...{
      payoutAddress: HONEST,
      payoutAddresses: null,
      payoutProof: null,
      payoutIsContract: false,
      clearedPayoutAddress: null,
      pendingPayout: null,
    },
    ...{ ownerChanges: [], payoutHeldUntil: null, frozenAt: null },
  }
  const invitations = new Map<string, { role: Role; by: string; isExpected: boolean }>()
  let keys: { by: string; scopes: readonly string[] }[] = []
  /** The thief holds this session. */
  const holdsSession = insider === null || thief.endsWith('session')
  const victim = holdsSession ? (honestOwners[below(honestOwners.length)] ?? '') : 'insider'
  const since = new Map<string, number>()
  let accomplices = 0
  /** When each owner has looked at the latest notice. */
  const looks = new Map<string, number>()
  const outcome: Outcome = { violations: [], done: new Map() }
  const seen = (what: string) => outcome.done.set(what, (outcome.done.get(what) ?? 0) + 1)

  const notify = () => {
    for (const owner of honestOwners.filter(one => !(hasMail && one === victim)))
      if (!looks.has(owner)) looks.set(owner, at.ms + 1 + below(24 * HOUR - 2))
  }
  const apply = ({ put, removed, ownerChanges = payout.ownerChanges }: MemberDecision) => {
    const [less] = [put ?? removed].filter(one => one !== undefined)
    if (less) keys = keys.filter(({ by, scopes }) => by !== less.userId || (!removed && mayMakeKey(less.role, scopes)))
    if (put) members = [...members.filter(({ id }) => id !== put.id), put]
    if (put?.role === 'owner') since.set(put.userId, at.ms)
    if (removed) members = members.filter(({ id }) => id !== removed.id)
    const left = removed ?? (put && !permissionsOf(put.role).includes('payout:write') ? put : undefined)
    const moved = { ...payout, ownerChanges }
    payout = { ...moved, pendingPayout: retimed(left ? payoutWithoutUser(moved, left.userId) : moved, guard) }
  }
  const judge = () => {
    if (payout.payoutAddress === MINE) outcome.violations.push(`${thief}: the address of the thief is in force`)
    for (const owner of honestOwners)
      if (!ownersAmong(members).includes(owner)) outcome.violations.push(`${thief}: ${owner} is no owner any more`)
    for (const { by, scopes } of keys) {
      const maker = members.find(({ userId }) => userId === by)
      if (maker && !mayMakeKey(maker.role, scopes)) outcome.violations.push(`${thief}: a key may do more than its maker`)
    }
  }
  /** Time passes: what is due comes into force, and owners look. */
  const pass = (ms: number) => {
    const end = at.ms + ms
    for (;;) {
      const dues = [...payout.ownerChanges, ...(payout.pendingPayout ? [payout.pendingPayout] : [])].map(({ activatesAt }) =>
        activatesAt.getTime(),
      )
      const next = Math.min(end, ...[...looks.values(), ...dues].filter(due => due > at.ms))
      at.ms = Math.max(at.ms, next)
      const due = activateOwnerChange(members, payout, now())
      if (due) {
        const { effect, ownerChanges } = due
        if (effect.put || effect.removed) payout = { ...payout, payoutHeldUntil: new Date(at.ms + guard.payoutHoldMs) }
        apply({ ...effect, ownerChanges })
      }
      payout = { ...payout, ...activatePayout(payout, now()) }
      judge()
      for (const [owner, look] of looks) if (look <= at.ms) react(owner)
      if (at.ms >= end && !due) return
    }
  }
  /** An owner undoes what they did not do, and what they can: strangers go, and their own sessions end. */
  const react = (owner: string) => {
    looks.delete(owner)
    for (const change of payout.ownerChanges)
      if (change.owners.includes(owner) && !wanted.has(change.id))
        attempt(() => apply({ ownerChanges: undoOwnerChange(members, payout, change.id, { userId: owner, at: now() }) }))
    if (payout.pendingPayout?.address === MINE) payout = { ...payout, ...cancelPayout(payout, payout.pendingPayout.id) }
    for (const [token, { isExpected }] of invitations) if (!isExpected) invitations.delete(token)
    for (const member of members.filter(
      ({ userId, role }) => (userId.startsWith('accomplice') || userId === 'insider') && role !== 'owner',
    ))
      attempt(() => apply(decideMember(members, payout, member.id, null, requestBy(owner), guard)))
    if (payout.payoutAddress === null) payout = { ...payout, ...requestPayout(payout, HONEST, payoutBy(owner), guard) }
    // Who reads the mail of an owner logs in again by it.
    if (below(3) === 0) isOut = !hasMail
  }
  /** Changes that the owners themselves requested. */
  const wanted = new Set<string>()
  /** The thief's session was ended; it may be stolen again. */
  let isOut = false
  const requestBy = (userId: string) => ({ id: newId(), userId, at: now(), keepsKeys: false })
  const payoutBy = (userId: string) => ({ id: newId(), userId, at: now(), owners: ownersAmong(members), isNew: false })
  const attempt = (work: () => void): boolean => {
    try {
      work()
      return true
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) throw error
      return false
    }
  }

  /** Identities of the thief at this moment, and whether their login is fresh. */
  const identities = (): { userId: string; isFresh: boolean }[] => {
    const own = members.filter(({ userId }) => /^(accomplice|colleague)/.test(userId)).map(({ userId }) => ({ userId, isFresh: true }))
    if (insider !== null)
      return [{ userId: 'insider', isFresh: true }, ...(holdsSession && !isOut ? [{ userId: victim, isFresh: true }] : []), ...own]
    return isOut ? own : [{ userId: victim, isFresh: thief !== 'stale session' }, ...own]
  }
  const may = (userId: string, permission: string) =>
    permissionsOf(members.find(member => member.userId === userId)?.role ?? '').some(one => one === permission)
  /** By the hours that its login is old, as the gateway asks. */
  const isRecent = (isFresh: boolean) => isRecentLogin(new Date(isFresh ? at.ms : at.ms - OLD_MS), now(), guard.freshLoginMs)
  const role = () => pick(ROLES)
  const target = () => pick(members).id

  const moves: Record<string, (userId: string, isFresh: boolean) => void> = {
    invite(userId, isFresh) {
      demand(isFresh && may(userId, 'members:write'))
      invitations.set(newId(), { role: role(), by: userId, isExpected: false })
    },
    join() {
      const [token, invitation] = [...invitations][0] ?? []
      demand(token !== undefined && invitation !== undefined && may(invitation.by, 'members:write'))
      if (token === undefined || !invitation) return
      invitations.delete(token)
      accomplices += 1
      const request = requestBy(invitation.by)
      if (invitation.isExpected) wanted.add(request.id)
      const name = `${invitation.isExpected ? 'colleague' : 'accomplice'} ${accomplices}`
      apply(joinTeam(members, payout, { ...memberOf(name, invitation.role), createdAt: now() }, request, guard))
    },
    setRole(userId, isFresh) {
      demand(isFresh && may(userId, 'members:write'))
      apply(decideMember(members, payout, target(), role(), requestBy(userId), guard))
    },
    remove(userId, isFresh) {
      demand(isFresh && may(userId, 'members:write'))
      apply(decideMember(members, payout, target(), null, requestBy(userId), guard))
    },
    payout(userId, isFresh) {
      demand(isFresh && may(userId, 'payout:write'))
      payout = { ...payout, ...requestPayout(payout, pick([MINE, MINE, MINE, HONEST, null]), payoutBy(userId), guard) }
    },
    sign(userId) {
      demand(may(userId, 'payout:write') && payout.pendingPayout?.address === MINE)
      payout = { ...payout, ...signPayout(payout, payout.pendingPayout?.id ?? '', { message: '', signature: '', at: now() }, guard) }
    },
    approve(userId, isFresh) {
      demand(isFresh && ownersAmong(members).includes(userId) && payout.pendingPayout !== null)
      const owner = { userId, since: new Date(since.get(userId) ?? START - 1_000 * HOUR), at: now() }
      payout = { ...payout, ...approvePayout(payout, payout.pendingPayout?.id ?? '', owner, guard) }
    },
    cancelPayout(userId) {
      demand(may(userId, 'merchant:write') && payout.pendingPayout !== null)
      payout = { ...payout, ...cancelPayout(payout, payout.pendingPayout?.id ?? '') }
    },
    undo(userId) {
      const ids = payout.ownerChanges.map(({ id }) => id)
      apply({ ownerChanges: undoOwnerChange(members, payout, pick([...ids, 'none']), { userId, at: now() }) })
    },
    confirm(userId, isFresh) {
      demand(isFresh)
      const ids = payout.ownerChanges.map(({ id }) => id)
      apply({ ownerChanges: confirmOwnerChange(members, payout, pick([...ids, 'none']), { userId, at: now() }, guard) })
    },
    seeSecret(userId, isFresh) {
      const [id, operation] = pick(table)
      demand(operation.permission !== null && may(userId, operation.permission) && (operation.login === undefined || isRecent(isFresh)))
      const role = members.find(member => member.userId === userId)?.role ?? ''
      const showing = showingOf(operation, { permissions: permissionsOf(role), isSession: true })
      demand(showing === 'made' || (showing === 'to_a_fresh_login' && isRecent(isFresh)))
      if (!isFresh) outcome.violations.push(`${thief}: ${id} shows a secret to an old session`)
      if (!SEES.includes(role)) outcome.violations.push(`${thief}: ${id} shows a secret to a ${role}`)
      // Shown again is recorded by who shows it; what an operation makes, by the row that the table has for it.
      const isRecorded = showing === 'to_a_fresh_login' || (operation.audit !== undefined && operation.informs !== undefined)
      if (!isRecorded) outcome.violations.push(`${thief}: ${id} shows a secret unseen`)
    },
    makeKey(userId, isFresh) {
      const scopes: CreateApiKey['scopes'] = [pick(KEY_SCOPES)]
      demand(isFresh && mayMakeKey(members.find(member => member.userId === userId)?.role ?? '', scopes))
      keys.push({ by: userId, scopes })
    },
  }
  // The thief reads what an owner sends to a colleague, and joins in their place.
  // As an owner only beside three: who holds two of three owners may put out the third, as any two who agree.
  const expected = size > 2 ? ROLES : ROLES.filter(role => role !== 'owner')
  if (hasMail) invitations.set(newId(), { role: pick(expected), by: honestOwners[0] ?? '', isExpected: true })
  for (let step = 0; step < steps && outcome.violations.length === 0; step++) {
    const identity = identities()
    if (identity.length > 0) {
      const { userId, isFresh } = pick(identity)
      const name = pick(Object.keys(moves))
      if (attempt(() => moves[name]?.(userId, isFresh))) {
        seen(name)
        notify()
      }
      judge()
    }
    if (isOut && below(10) === 0) isOut = false
    if (below(2) === 0) pass(pick([1, HOUR, 5 * HOUR, 12 * HOUR, 24 * HOUR, 47 * HOUR, 80 * HOUR]))
  }
  pass(400 * HOUR)
  if (outcome.violations.length === 0 && insider === 'owner') putOut()
  return outcome

  /** Two owners who agree put out a third who turned bad, whatever that one undoes. */
  function putOut(): void {
    const [first, second] = honestOwners
    const bad = members.find(({ userId }) => userId === 'insider')
    if (bad?.role !== 'owner' || first === undefined || second === undefined) return
    const request = requestBy(first)
    wanted.add(request.id)
    for (const { id, owners } of payout.ownerChanges)
      if (owners.includes(first)) attempt(() => apply({ ownerChanges: undoOwnerChange(members, payout, id, { userId: first, at: now() }) }))
    apply(decideMember(members, payout, bad.id, null, request, guard))
    const object = () =>
      attempt(() => apply({ ownerChanges: undoOwnerChange(members, payout, request.id, { userId: 'insider', at: now() }) }))
    object()
    pass((1 + below(46)) * HOUR)
    attempt(() => apply({ ownerChanges: confirmOwnerChange(members, payout, request.id, { userId: second, at: now() }, guard) }))
    for (let n = 0; n < 5; n++) {
      object()
      pass(10 * HOUR)
    }
    if (members.some(({ id }) => id === bad.id)) outcome.violations.push(`${thief}: an owner who turned bad cannot be put out`)
    else seen('putOut')
  }
}

function demand(isAllowed: boolean): void {
  if (!isAllowed) throw new Error('refused')
}
