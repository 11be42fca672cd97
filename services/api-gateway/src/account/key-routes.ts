import { randomBytes } from 'node:crypto'
import { ApiError, type CreateApiKey, invalidField, operations, pathWith } from '@ponte/contracts'
import { retryConflicts, uuidv7At } from '@ponte/service-kit'
import type { Response } from 'express'
import { API_KEY_ENTROPY_BYTES, deriveApiKey, deriveApiKeyAgain, mintApiKey } from '../credentials/api-key'
import { userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { permissionsOf } from '../merchant/member'
import type { Merchant } from '../merchant/merchant'
import { requireNotFrozen } from '../merchant/owner-change'
import type { Store } from '../store'
import { type NamedKey, namedKeyBody } from '../store/named-keys'
import { type AccountDeps, actor, own, repeatableBy } from './changes'

const SALT_BYTES = 32
const PREFIX_LENGTH = 'sk_live_0123'.length
const KEYS_MAX = 50

/** Named keys beside the API key of the specification, each with its own scopes. */
export function keyHandlers(deps: AccountDeps) {
  const { store, now, sealKeys, mode } = deps
  const ownKey = async (id: string, res: Response): Promise<NamedKey> => {
    const key = await store.namedKeys.find((await own(store, res)).id, id)
    if (!key) throw new ApiError('not_found', 'You have no such API key.')
    return key
  }
  const created = (res: Response, key: NamedKey, plain: string) =>
    res
      .status(201)
      .location(pathWith(operations.getApiKey.path, { id: key.id }))
      .json({ ...namedKeyBody(key), api_key: plain })

  /** Looked up after the merchant, whose version reveals that its members have changed meanwhile. */
  const requireMaker = async (merchant: Merchant, { scopes }: CreateApiKey, res: Response): Promise<void> => {
    const member = await store.members.find(merchant.id, userIn(res).id)
    if (!member || !permissionsOf(member.role).includes('keys:write')) throw new ApiError('forbidden', 'You may not make keys any more.')
    const beyond = scopes.filter(scope => !permissionsOf(member.role).includes(scope))
    if (beyond.length > 0)
      throw new ApiError('forbidden', `A member with the role ${member.role} makes no key that may ${beyond.join(', ')}.`)
  }

  const opened = async (merchant: Merchant, body: CreateApiKey, plain: string, res: Response): Promise<NamedKey> => {
    const at = now()
    const expiresAt = body.expires_at ? new Date(body.expires_at) : null
    if (expiresAt && expiresAt <= at) throw invalidField('expires_at', 'must lie ahead')
    if ((await store.namedKeys.list(merchant.id)).length >= KEYS_MAX)
      throw new ApiError('invalid_state', `A merchant has at most ${KEYS_MAX} named keys; revoke one first.`)
    return {
      ...{ id: uuidv7At(at), merchantId: merchant.id, name: body.name, scopes: body.scopes, prefix: plain.slice(0, PREFIX_LENGTH) },
      ...{ createdBy: actor(res).userId, createdAt: at, expiresAt, lastUsedAt: null, revokedAt: null, salt: null },
    }
  }
  /** The same request again gives the same key: it is derived again, and nowhere kept. */
  const createdOnce = async (merchant: Merchant, body: CreateApiKey, idempotencyKey: string, res: Response) => {
    const source = { mode, secrets: sealKeys, merchantId: merchant.id, idempotencyKey }
    const replayed = async (): Promise<boolean> => {
      const known = await store.namedKeys.findByRequest(merchant.id, { idempotencyKey, body })
      if (!known?.key.salt) return false
      if (!known.isSameBody)
        throw new ApiError('idempotency_mismatch', 'Send the same body again, or a new Idempotency-Key for a new request.')
      await store.auditLog.note(merchant, 'named_key.show_again', ['api_key'], actor(res))
      res.setHeader('Idempotency-Replayed', 'true')
      created(res, known.key, deriveApiKeyAgain(source, { salt: known.key.salt, hash: known.key.hash }).plain)
      return true
    }
    if (await replayed()) return
    const salt = randomBytes(SALT_BYTES)
    const minted = deriveApiKey(source, salt)
    const key = await opened(merchant, body, minted.plain, res)
    if (await store.namedKeys.insert(merchant, key, minted.hash, actor(res), { idempotencyKey, body, salt }))
      created(res, key, minted.plain)
    else if (!(await replayed())) throw new Error('A repeated request left no key.')
  }

  return handling({
    async listApiKeys(_asked, _req, res) {
      const keys = await store.namedKeys.list((await own(store, res)).id)
      res.json({ object: 'list', data: keys.map(namedKeyBody), has_more: false })
    },
    async getApiKey({ params }, _req, res) {
      res.json(namedKeyBody(await ownKey(params.id, res)))
    },
    async revokeApiKey({ params }, _req, res) {
      const revoked = await retryConflicts(async () => {
        const merchant = await own(store, res)
        const key = await ownKey(params.id, res)
        return key.revokedAt ? key : store.namedKeys.revoke(merchant, key, actor(res))
      })
      res.json(namedKeyBody(revoked))
    },
    async createApiKey({ body }, req, res) {
      await retryConflicts(async () => {
        const merchant = await own(store, res)
        requireNotFrozen(merchant)
        await requireMaker(merchant, body, res)
        const idempotencyKey = repeatableBy(req, res)
        if (idempotencyKey === undefined) {
          const minted = mintApiKey(randomBytes(API_KEY_ENTROPY_BYTES), mode)
          const key = await opened(merchant, body, minted.plain, res)
          await store.namedKeys.insert(merchant, key, minted.hash, actor(res), null)
          created(res, key, minted.plain)
        } else await createdOnce(merchant, body, idempotencyKey, res)
      })
    },
  })
}

/** Removes what keys could be derived from again, once they are not shown again any more. */
export async function forgetKeyRequests(store: Store): Promise<void> {
  await Promise.all([store.apiKeys.forgetRequests(), store.namedKeys.forgetRequests()])
}
