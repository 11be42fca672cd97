import { createHash, randomBytes } from 'node:crypto'
import { ApiError, acceptInvitation, createInvitation, id as idSchema, memberKeysQuery, updateMember } from '@ponte/contracts'
import { isStale, isUniqueViolation, parseRequest, retryConflicts, seal, uuidv7At } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { userIn } from '../credentials'
import { jsonBody } from '../json-body'
import { type Invitation, joined, type Member, type Merchant, payoutWithoutUser, permissionsOf, withoutMember, withRole } from '../merchant'
import type { Action } from '../store/audit-log'
import type { TeamChange } from '../store/members'
import { type AccountDeps, actor, own, requireFreshLogin } from './changes'
import { invitationBody, memberBody, membershipBody } from './member-bodies'

const nothing = z.strictObject({})
const pathId = z.object({ id: idSchema })
const idIn = (req: Request) => parseRequest(pathId, req.params, 'path').id
const keepsKeysIn = (req: Request) => parseRequest(memberKeysQuery, req.query, 'query').keep_api_keys === 'true'
const makesKeys = ({ role }: Member) => permissionsOf(role).includes('keys:write')
const listOf = (data: object[]) => ({ object: 'list', data, has_more: false })
const hashOf = (token: string) => new Uint8Array(createHash('sha256').update(token).digest())
const INVITATION_LIFE_MS = 7 * 86_400_000
const ME = '/api/v1/merchants/me'

/** Two that join at one moment meet at the merchant's version, or before it at the row of the member. */
const isOtherFirst = (error: unknown) => isStale(error) || isUniqueViolation(error, 'members_merchant_id_user_id_key')

/** Who belongs to a merchant, and who is invited to. */
export function memberRoutes(deps: AccountDeps): Router {
  const { store, now, session } = deps
  const router = Router()
  /** Of a user who may not decide on the payout address any more, nothing waits. */
  const without = (merchant: Merchant, { put, removed }: Partial<TeamChange>): Pick<Merchant, 'pendingPayout'> => {
    const left = removed ?? (put && !permissionsOf(put.role).includes('payout:write') ? put : undefined)
    return left ? payoutWithoutUser(merchant, left.userId, deps.payoutGuard) : merchant
  }
  /** The merchant is read before its members, so that its version reveals any change of them. */
  const commit = <T extends Partial<TeamChange>>(
    res: Response,
    find: () => Promise<Merchant>,
    action: Action,
    decide: (members: Member[], merchant: Merchant) => T | Promise<T>,
  ): Promise<T> =>
    retryConflicts(async () => {
      const merchant = await find()
      const change = await decide(await store.members.list(merchant.id), merchant)
      const { pendingPayout } = without(merchant, change)
      const changed = [
        ...[change.put ?? change.invited ?? change.removed ?? change.revoked].flatMap(one => (one ? [`role:${one.role}`] : [])),
        ...(change.revokedKeys?.length ? ['api_key'] : []),
        ...(pendingPayout === merchant.pendingPayout ? [] : ['pending_payout_change']),
      ]
      await store.members.commit({ merchant, pendingPayout, at: now(), ...change }, action, changed, actor(res))
      return change
    }, isOtherFirst)

  const keysOf = async ({ merchantId, userId }: Member) =>
    (await store.namedKeys.list(merchantId)).filter(({ createdBy }) => createdBy === userId)

  router.get('/api/v1/merchants', ...session, async (_req, res) => {
    res.json(listOf((await store.members.ofUser(userIn(res).id)).map(membershipBody)))
  })
  router.get(`${ME}/members`, ...session, async (_req, res) => {
    res.json(listOf((await store.members.list((await own(store, res)).id)).map(memberBody)))
  })
  router.patch(`${ME}/members/:id`, ...session, async (req, res) => {
    const id = idIn(req)
    withRoleOf(await store.members.list((await own(store, res)).id), id)
    const { role } = parseRequest(updateMember, jsonBody(req), 'body')
    const keepsKeys = keepsKeysIn(req)
    requireFreshLogin(res, deps)
    const { put, revokedKeys } = await commit(
      res,
      () => own(store, res),
      'member.update',
      async members => {
        const put = withRole(members, id, role)
        const isBarred = members.some(member => member.id === id && makesKeys(member)) && !makesKeys(put)
        return { put, revokedKeys: isBarred && !keepsKeys ? await keysOf(put) : [] }
      },
    )
    res.json({ ...memberBody(put), revoked_api_keys: revokedKeys.map(({ id }) => id) })
  })
  router.delete(`${ME}/members/:id`, ...session, async (req, res) => {
    const id = idIn(req)
    parseRequest(nothing, jsonBody(req), 'body')
    const keepsKeys = keepsKeysIn(req)
    requireFreshLogin(res, deps)
    const { removed, revokedKeys } = await commit(
      res,
      () => own(store, res),
      'member.remove',
      async members => {
        const removed = withoutMember(members, id)
        return { removed, revokedKeys: keepsKeys ? [] : await keysOf(removed) }
      },
    )
    res.json({ object: 'member', id: removed.id, deleted: true, revoked_api_keys: revokedKeys.map(({ id }) => id) })
  })

  const invitationOf = async (req: Request, res: Response): Promise<Invitation> => {
    const found = await store.members.findInvitation((await own(store, res)).id, idIn(req))
    if (!found) throw new ApiError('not_found', 'Your merchant has no such invitation.')
    return found
  }
  router.get(`${ME}/invitations`, ...session, async (_req, res) => {
    res.json(listOf((await store.members.invitations((await own(store, res)).id)).map(invitationBody)))
  })
  router.get(`${ME}/invitations/:id`, ...session, async (req, res) => {
    res.json(invitationBody(await invitationOf(req, res)))
  })
  router.post(`${ME}/invitations`, ...session, async (req, res) => {
    const { email, role } = parseRequest(createInvitation, jsonBody(req), 'body')
    requireFreshLogin(res, deps)
    const token = `inv_${randomBytes(32).toString('hex')}`
    const at = now()
    const id = uuidv7At(at)
    const { invited } = await commit(
      res,
      () => own(store, res),
      'invitation.create',
      (_members, merchant) => ({
        invited: {
          ...{ id, merchantId: merchant.id, email, role, invitedBy: userIn(res).id },
          ...{ tokenHash: hashOf(token), sealedToken: seal(token, deps.sealKeys, id) },
          ...{ createdAt: at, expiresAt: new Date(at.getTime() + INVITATION_LIFE_MS), acceptedAt: null, revokedAt: null },
        },
      }),
    )
    res
      .status(201)
      .location(`${ME}/invitations/${invited.id}`)
      .json({ ...invitationBody(invited), token })
  })
  router.delete(`${ME}/invitations/:id`, ...session, async (req, res) => {
    parseRequest(nothing, jsonBody(req), 'body')
    const revoked = await invitationOf(req, res)
    await commit(
      res,
      () => own(store, res),
      'invitation.revoke',
      () => ({ revoked }),
    )
    res.json(invitationBody({ ...revoked, revokedAt: revoked.revokedAt ?? now() }))
  })

  router.post('/api/v1/invitations/accept', ...session, async (req, res) => {
    const { token } = parseRequest(acceptInvitation, jsonBody(req), 'body')
    const { id, verifiedEmail } = userIn(res)
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
    await commit(res, merchantOf, 'member.join', async members => {
      const accepted = await find()
      return { accepted, put: joined(accepted, members, { id, memberId: uuidv7At(now()), verifiedEmail, at: now() }) }
    })
    const merchantId = (await find()).merchantId
    const membership = (await store.members.ofUser(id)).find(one => one.merchantId === merchantId)
    if (!membership) throw new ApiError('not_found', 'You were removed again meanwhile.')
    res.json(membershipBody(membership))
  })
  return router
}

/** Throws `not_found` for an id that no member has, before the body is judged. */
const withRoleOf = (members: readonly Member[], id: string) => {
  if (!members.some(member => member.id === id)) throw new ApiError('not_found', 'Your merchant has no such member.')
}
