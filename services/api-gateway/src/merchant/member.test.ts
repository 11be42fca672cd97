import { PERMISSIONS } from '@ponte/contracts'
import { type Invitation, joined, type Member, permissionsOf } from './member'

const at = new Date('2026-11-20T12:00:00.000Z')
const member = (id: string, role: string): Member => ({ id, merchantId: 'm', userId: `user ${id}`, email: null, role, createdAt: at })
const team = [member('a', 'owner'), member('b', 'developer')]
const code = (name: string) => expect.objectContaining({ code: name })

test('an owner may do everything, a role that is not known nothing', () => {
  expect(permissionsOf('owner')).toEqual(PERMISSIONS)
  for (const role of ['', 'Owner', 'root', '__proto__', 'constructor']) expect(permissionsOf(role)).toEqual([])
})

describe('an invitation', () => {
  const invitation: Invitation = {
    ...{ id: 'i', merchantId: 'm', email: 'Ana@example.com', role: 'finance', invitedBy: 'user a', createdAt: at },
    ...{ expiresAt: new Date(at.getTime() + 1), acceptedAt: null, revokedAt: null },
  }
  const user = { id: 'user c', memberId: 'c', verifiedEmail: 'ana@EXAMPLE.com', at }

  test('makes a member of the user whose verified address it names', () => {
    expect(joined(invitation, team, user)).toEqual({ ...member('c', 'finance'), email: 'Ana@example.com' })
  })
  test.each([
    ['was removed since', [member('b', 'developer'), member('d', 'owner')]],
    ['is no owner any more', [member('a', 'admin'), member('d', 'owner')]],
  ])('is refused when who sent it %s', (_what, members) => {
    expect(() => joined(invitation, members, user)).toThrow(code('invalid_state'))
  })
  test.each([
    ['another address', invitation, { ...user, verifiedEmail: 'bob@example.com' }, 'forbidden'],
    ['no verified address', invitation, { ...user, verifiedEmail: null }, 'forbidden'],
    ['one that was used', { ...invitation, acceptedAt: at }, user, 'invalid_state'],
    ['one that was revoked', { ...invitation, revokedAt: at }, user, 'invalid_state'],
    ['one that is too old', { ...invitation, expiresAt: at }, user, 'invalid_state'],
    ['a member', invitation, { ...user, id: 'user a' }, 'invalid_state'],
  ])('is refused with %s', (_what, given, by, name) => {
    expect(() => joined(given, team, by)).toThrow(code(name))
  })
})
