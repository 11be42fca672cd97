import { randomBytes } from 'node:crypto'
import { ApiError, operations, pathWith, type Role } from '@ponte/contracts'
import { seal, uuidv7At } from '@ponte/service-kit'
import type { Response } from 'express'
import { hashOf } from '../credentials/api-key'
import { userIn, verifiedEmailOf } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { type Invitation, joined, type Member } from '../merchant/member'
import type { Merchant } from '../merchant/merchant'
import { decideMember, joinTeam, requireNotFrozen } from '../merchant/owner-change'
import type { Action } from '../store/audit-log'
import { type AccountDeps, actor, own } from './changes'
import { invitationBody, memberBody, membershipBody } from './member-bodies'
import { commitTeam, type TeamDecision } from './team'
import { changesFor } from './waiting-routes'

const listOf = (data: object[]) => ({ object: 'list', data, has_more: false })
const OPEN_INVITATIONS_MAX = 50
const INVITATION_LIFE_MS = 7 * 86_400_000

export function memberHandlers(deps: AccountDeps) {
  const { store, now } = deps
  const commit = <T extends TeamDecision>(
    res: Response,
    find: () => Promise<Merchant>,
    action: Action,
    decide: (members: Member[], merchant: Merchant) => T | Promise<T>,
  ) => commitTeam(deps, actor(res), action, find, decide)
  /** Ends a membership at once, or once the owners have had their time. */
  const decided = async (id: string, keepsKeys: boolean, res: Response, action: Action, role: Role | null) => {
    const request = { id: uuidv7At(now()), userId: userIn(res).id, at: now(), keepsKeys }
    const { merchant, ...decision } = await commit(
      res,
      () => own(store, res),
      action,
      (members, merchant) => ({ ...decideMember(members, merchant, id, role, request, deps.payoutGuard), keepsKeys }),
    )
    const waits = decision.ownerChanges && changesFor(request.userId, { ...merchant, ...decision }, await store.members.list(merchant.id))
    const waiting = waits?.find(change => change.id === request.id)
    if (waiting) res.status(202).json(waiting)
    return decision
  }

  const invitationOf = async (id: string, res: Response): Promise<Invitation> => {
    const found = await store.members.findInvitation((await own(store, res)).id, id)
    if (!found) throw new ApiError('not_found', 'Your merchant has no such invitation.')
    return found
  }
  return handling({
    async listMerchants(_asked, _req, res) {
      res.json(listOf((await store.members.ofUser(userIn(res).id)).map(membershipBody)))
    },
    async listMembers(_asked, _req, res) {
      res.json(listOf((await store.members.list((await own(store, res)).id)).map(memberBody)))
    },
    async updateMember({ params: { id }, query, body: { role } }, _req, res) {
      const { put, revokedKeys } = await decided(id, query.keep_api_keys === 'true', res, 'member.update', role)
      if (put) res.json({ ...memberBody(put), revoked_api_keys: revokedKeys.map(({ id }) => id) })
    },
    async removeMember({ params: { id }, query }, _req, res) {
      const { removed, revokedKeys } = await decided(id, query.keep_api_keys === 'true', res, 'member.remove', null)
      if (removed) res.json({ object: 'member', id: removed.id, deleted: true, revoked_api_keys: revokedKeys.map(({ id }) => id) })
    },

    async listInvitations(_asked, _req, res) {
      res.json(listOf((await store.members.invitations((await own(store, res)).id, now())).map(invitationBody)))
    },
    async getInvitation({ params }, _req, res) {
      res.json(invitationBody(await invitationOf(params.id, res)))
    },
    async createInvitation({ body: { email, role } }, _req, res) {
      const token = `inv_${randomBytes(32).toString('hex')}`
      const at = now()
      const id = uuidv7At(at)
      const { invited } = await commit(
        res,
        () => own(store, res),
        'invitation.create',
        async (_members, merchant) => {
          requireNotFrozen(merchant)
          if ((await store.members.openInvitations(merchant.id, at)).length >= OPEN_INVITATIONS_MAX)
            throw new ApiError('invalid_state', `A merchant has at most ${OPEN_INVITATIONS_MAX} open invitations; revoke one first.`)
          return {
            invited: {
              ...{ id, merchantId: merchant.id, email, role, invitedBy: userIn(res).id },
              ...{ tokenHash: hashOf(token), sealedToken: seal(token, deps.sealKeys, id) },
              ...{ createdAt: at, expiresAt: new Date(at.getTime() + INVITATION_LIFE_MS), acceptedAt: null, revokedAt: null },
            },
          }
        },
      )
      res
        .status(201)
        .location(pathWith(operations.getInvitation.path, { id: invited.id }))
        .json({ ...invitationBody(invited), token })
    },
    async revokeInvitation({ params }, _req, res) {
      await commit(
        res,
        () => own(store, res),
        'invitation.revoke',
        async () => {
          const found = await invitationOf(params.id, res)
          if (found.acceptedAt && !found.revokedAt)
            throw new ApiError('invalid_state', 'This invitation was accepted: who joined by it stays until they are removed as a member.')
          return found.revokedAt ? {} : { revoked: found }
        },
      )
      res.json(invitationBody(await invitationOf(params.id, res)))
    },

    async acceptInvitation({ body: { token } }, _req, res) {
      const { id } = userIn(res)
      const verifiedEmail = await verifiedEmailOf(res, deps.provider)
      const find = async () => {
        const invitation = await store.members.findByToken(hashOf(token))
        if (!invitation) throw new ApiError('not_found', 'There is no such invitation.')
        return invitation
      }
      const merchantOf = async () => {
        const merchant = await store.merchants.find((await find()).merchantId)
        if (!merchant) throw new Error('An invitation has no merchant.')
        return merchant
      }
      await commit(res, merchantOf, 'member.join', async (members, merchant) => {
        const accepted = await find()
        requireNotFrozen(merchant)
        const joining = joined(accepted, members, { id, memberId: uuidv7At(now()), verifiedEmail, at: now() })
        const request = { id: uuidv7At(now()), userId: accepted.invitedBy, at: now(), keepsKeys: false }
        return { accepted, ...joinTeam(members, merchant, joining, request, deps.payoutGuard) }
      })
      const merchantId = (await find()).merchantId
      const membership = (await store.members.ofUser(id)).find(one => one.merchantId === merchantId)
      if (!membership) throw new ApiError('not_found', 'You were removed again meanwhile.')
      res.json(membershipBody(membership))
    },
  })
}
