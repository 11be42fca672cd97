import type { ApiError } from '@ponte/contracts'
import type { Member } from './member'
import { activateOwnerChange, confirmOwnerChange, decideMember, frozen, joinTeam, type Ownership, undoOwnerChange } from './owner-change'

const HOUR = 3_600_000
const start = Date.parse('2026-11-20T12:00:00.000Z')
const after = (hours: number) => new Date(start + hours * HOUR)
const guard = { ownerDelayMs: 48 * HOUR, payoutHoldMs: 72 * HOUR }
const member = (id: string, role: string): Member => ({
  ...{ id, merchantId: 'm', userId: `user ${id}`, email: null, role, createdAt: after(-1000) },
})
const quiet: Ownership = { ownerChanges: [], payoutHeldUntil: null, frozenAt: null }
const request = (id: string, userId = 'user a', hours = 0) => ({ id, userId, at: after(hours), keepsKeys: false })
const team = [member('a', 'owner'), member('b', 'owner'), member('c', 'developer')]
const code = (name: ApiError['code']) => expect.objectContaining({ code: name })

test.each([
  ['removing an owner', 'b', null],
  ['demoting an owner', 'b', 'admin'],
  ['demoting oneself', 'a', 'viewer'],
  ['making an owner', 'c', 'owner'],
] as const)('%s waits two days and names the owners of before', (_what, id, role) => {
  const { ownerChanges = [], ...rest } = decideMember(team, quiet, id, role, request('x'), guard)
  expect(rest).toEqual({})
  expect(ownerChanges).toMatchObject([{ memberId: id, role, activatesAt: after(48), owners: ['user a', 'user b'] }])
  const waiting = { ...quiet, ownerChanges }
  expect(activateOwnerChange(team, waiting, new Date(after(48).getTime() - 1))).toBeNull()
  const due = activateOwnerChange(team, waiting, after(48))
  expect(due?.effect).toMatchObject(role === null ? { removed: { id } } : { put: { id, role } })
  expect(due?.ownerChanges).toEqual([])
})

test('what touches no owner is at once', () => {
  expect(decideMember(team, quiet, 'c', 'viewer', request('x'), guard)).toEqual({ put: member('c', 'viewer') })
  expect(decideMember(team, quiet, 'c', null, request('x'), guard)).toEqual({ removed: member('c', 'developer') })
  expect(decideMember(team, quiet, 'a', 'owner', request('x'), guard)).toEqual({ put: member('a', 'owner') })
  expect(() => decideMember(team, quiet, 'x', 'viewer', request('x'), guard)).toThrow(code('not_found'))
})

test('every owner of before undoes it, also who was put out meanwhile; who became one later does not', () => {
  const { ownerChanges = [] } = decideMember(team, quiet, 'b', null, request('x'), guard)
  const waiting = { ...quiet, ownerChanges }
  const by = (userId: string) => ({ userId, at: after(1) })
  for (const userId of ['user a', 'user b']) {
    expect(undoOwnerChange(team, waiting, 'x', by(userId))).toEqual([])
    const without = team.filter(one => one.userId !== userId)
    expect(undoOwnerChange(without, waiting, 'x', by(userId))).toEqual([])
  }
  for (const userId of ['user c', 'user new']) expect(() => undoOwnerChange(team, waiting, 'x', by(userId))).toThrow(code('forbidden'))
  expect(() => undoOwnerChange(team, waiting, 'y', by('user a'))).toThrow(code('not_found'))
})

test('who joins as an owner is a viewer for two days', () => {
  const { put, ownerChanges = [] } = joinTeam(team, quiet, member('d', 'owner'), request('x'), guard)
  expect(put).toMatchObject({ id: 'd', role: 'viewer' })
  expect(ownerChanges).toMatchObject([{ memberId: 'd', role: 'owner', owners: ['user a', 'user b'] }])
  expect(joinTeam(team, quiet, member('d', 'admin'), request('x'), guard)).toEqual({ put: member('d', 'admin') })
})

test('a second change of a member whose change waits is refused, so that it replaces nothing', () => {
  const { ownerChanges = [] } = decideMember(team, quiet, 'c', 'owner', request('x'), guard)
  for (const role of ['owner', 'viewer', null] as const)
    expect(() => decideMember(team, { ...quiet, ownerChanges }, 'c', role, request('y', 'user b'), guard)).toThrow(code('invalid_state'))
})

test('an owner stays, whoever leaves at one moment', () => {
  expect(() => decideMember([member('a', 'owner'), member('c', 'admin')], quiet, 'a', null, request('x'), guard)).toThrow(
    code('invalid_state'),
  )
  const { ownerChanges = [] } = decideMember(team, quiet, 'b', null, request('x'), guard)
  const waiting = { ...quiet, ownerChanges }
  expect(() => decideMember(team, waiting, 'a', 'viewer', request('y'), guard)).toThrow(code('invalid_state'))
  // The other owner has gone by an older release meanwhile.
  const due = activateOwnerChange([member('b', 'owner')], waiting, after(48))
  expect(due).toMatchObject({ effect: {}, ownerChanges: [] })
})

test('a change of a member who has gone has no effect', () => {
  const { ownerChanges = [] } = decideMember(team, quiet, 'c', 'owner', request('x'), guard)
  expect(activateOwnerChange(team.slice(0, 2), { ...quiet, ownerChanges }, after(48))).toMatchObject({ effect: {}, ownerChanges: [] })
})

test('a frozen account changes no owner; afterwards what waits has its whole time again, and the payout address its own', () => {
  const { ownerChanges = [] } = decideMember(team, quiet, 'b', null, request('x'), guard)
  const stopped = frozen({ ...quiet, ownerChanges }, true, after(1), guard)
  expect(activateOwnerChange(team, stopped, after(1000))).toBeNull()
  expect(() => decideMember(team, stopped, 'c', 'viewer', request('y'), guard)).toThrow(code('invalid_state'))
  expect(undoOwnerChange(team, stopped, 'x', { userId: 'user b', at: after(1) })).toEqual([])
  expect(() => confirmOwnerChange(team, stopped, 'x', { userId: 'user b', at: after(1) }, guard)).toThrow(code('invalid_state'))
  const going = frozen(stopped, false, after(500), guard)
  expect(going).toMatchObject({ frozenAt: null, payoutHeldUntil: after(572), ownerChanges: [{ activatesAt: after(548) }] })
  expect(frozen(going, false, after(600), guard)).toBe(going)
})

test('without a delay it is at once', () => {
  expect(decideMember(team, quiet, 'b', null, request('x'), { ...guard, ownerDelayMs: 0 })).toEqual({ removed: member('b', 'owner') })
})

describe('an owner who turned bad', () => {
  const three = [...team, member('d', 'owner')]
  const { ownerChanges: requested = [] } = decideMember(three, quiet, 'b', null, request('x'), guard)
  const waiting = { ...quiet, ownerChanges: requested }
  const by = (userId: string, hours = 1) => ({ userId, at: after(hours) })

  test('objects to their removal, which then needs a third owner and otherwise ends without effect', () => {
    const ownerChanges = undoOwnerChange(three, waiting, 'x', by('user b'))
    expect(ownerChanges).toMatchObject([{ id: 'x', objectedAt: after(1), confirmedBy: null, activatesAt: after(48) }])
    expect(undoOwnerChange(three, { ...quiet, ownerChanges }, 'x', by('user b', 2))).toBe(ownerChanges)
    expect(activateOwnerChange(three, { ...quiet, ownerChanges }, after(48))).toMatchObject({ effect: {}, ownerChanges: [] })
  })

  test('is out two days after a third owner confirmed, and cannot cancel alone any more; every other owner of before can', () => {
    const objected = { ...quiet, ownerChanges: undoOwnerChange(three, waiting, 'x', by('user b')) }
    const ownerChanges = confirmOwnerChange(three, objected, 'x', by('user d', 20), guard)
    expect(ownerChanges).toMatchObject([{ confirmedBy: 'user d', activatesAt: after(68) }])
    const confirmed = { ...quiet, ownerChanges }
    expect(() => undoOwnerChange(three, confirmed, 'x', by('user b'))).toThrow(code('forbidden'))
    for (const userId of ['user a', 'user d']) expect(undoOwnerChange(three, confirmed, 'x', by(userId))).toEqual([])
    expect(activateOwnerChange(three, confirmed, after(67))).toBeNull()
    expect(activateOwnerChange(three, confirmed, after(68))?.effect).toMatchObject({ removed: { id: 'b' } })
  })

  test('who requested it, whom it puts out, who is no owner, and who became one later do not confirm it', () => {
    const later = [...three, member('e', 'owner')]
    for (const userId of ['user a', 'user b', 'user c', 'user e', 'user x'])
      expect(() => confirmOwnerChange(later, waiting, 'x', by(userId), guard)).toThrow(code('forbidden'))
    const { ownerChanges = [] } = decideMember(three, quiet, 'c', 'owner', request('y'), guard)
    expect(() => confirmOwnerChange(three, { ...quiet, ownerChanges }, 'y', by('user d'), guard)).toThrow(code('forbidden'))
    expect(() => confirmOwnerChange(three, waiting, 'z', by('user d'), guard)).toThrow(code('not_found'))
  })

  test('does not keep a wish of their own waiting to leave no room for the removal', () => {
    const { ownerChanges = [] } = decideMember(three, quiet, 'b', 'admin', request('own', 'user b'), guard)
    const next = decideMember(three, { ...quiet, ownerChanges }, 'b', null, request('x'), guard)
    expect(next.ownerChanges).toMatchObject([{ id: 'x', role: null, requestedBy: 'user a' }])
    expect(undoOwnerChange(three, { ...quiet, ownerChanges }, 'own', by('user b'))).toEqual([])
  })
})
