import { randomBytes } from 'node:crypto'
import { ApiError, type CreateApiKey, createApiKey as createBody, id as idSchema } from '@ponte/contracts'
import { parseRequest, retryConflicts, uuidv7At } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { API_KEY_ENTROPY_BYTES, deriveApiKey, deriveApiKeyAgain, mintApiKey, userIn } from '../credentials'
import { jsonBody } from '../json-body'
import { type Merchant, permissionsOf } from '../merchant'
import type { Store } from '../store'
import { type NamedKey, namedKeyBody } from '../store/named-keys'
import { type AccountDeps, actor, own, repeatableBy, requireFreshLogin } from './changes'

const nothing = z.strictObject({})
const pathId = z.object({ id: idSchema })
const SALT_BYTES = 32
const PREFIX_LENGTH = 'sk_live_0123'.length
const KEYS_MAX = 50
const PATH = '/api/v1/merchants/me/api-keys'

/** Named keys beside the API key of the specification, each with its own scopes. */
export function keyRoutes(deps: AccountDeps): Router {
  const { store, now, sealKeys, session } = deps
  const router = Router()
  const ownKey = async (req: Request, res: Response): Promise<NamedKey> => {
    const { id } = parseRequest(pathId, req.params, 'path')
    const key = await store.namedKeys.find((await own(store, res)).id, id)
    if (!key) throw new ApiError('not_found', 'You have no such API key.')
    return key
  }
  const created = (res: Response, key: NamedKey, plain: string) =>
    res
      .status(201)
      .location(`${PATH}/${key.id}`)
      .json({ ...namedKeyBody(key), api_key: plain })

  router.get(PATH, ...session, async (_req, res) => {
    const keys = await store.namedKeys.list((await own(store, res)).id)
    res.json({ object: 'list', data: keys.map(namedKeyBody), has_more: false })
  })
  router.get(`${PATH}/:id`, ...session, async (req, res) => {
    res.json(namedKeyBody(await ownKey(req, res)))
  })
  router.delete(`${PATH}/:id`, ...session, async (req, res) => {
    parseRequest(nothing, jsonBody(req), 'body')
    const key = await ownKey(req, res)
    await store.namedKeys.revoke(await own(store, res), key, actor(res))
    res.json(namedKeyBody({ ...key, revokedAt: key.revokedAt ?? now() }))
  })
  router.post(PATH, ...session, async (req, res) => {
    const body = parseRequest(createBody, jsonBody(req), 'body')
    requireFreshLogin(res, deps)
    await retryConflicts(async () => {
      const merchant = await own(store, res)
      await requireMaker(merchant, res)
      const idempotencyKey = repeatableBy(req, res, merchant)
      if (idempotencyKey === undefined) {
        const minted = mintApiKey(randomBytes(API_KEY_ENTROPY_BYTES))
        const key = await opened(merchant, body, minted.plain, res)
        await store.namedKeys.insert(merchant, key, minted.hash, actor(res), null)
        created(res, key, minted.plain)
      } else await createdOnce(merchant, body, idempotencyKey, res)
    })
  })

  /** Looked up after the merchant, whose version reveals that its members have changed meanwhile. */
  const requireMaker = async (merchant: Merchant, res: Response): Promise<void> => {
    const member = await store.members.find(merchant.id, userIn(res).id)
    if (!member || !permissionsOf(member.role).includes('keys:write')) throw new ApiError('forbidden', 'You may not make keys any more.')
  }

  const opened = async (merchant: Merchant, body: CreateApiKey, plain: string, res: Response): Promise<NamedKey> => {
    const at = now()
    const expiresAt = body.expires_at ? new Date(body.expires_at) : null
    if (expiresAt && expiresAt <= at)
      throw new ApiError('invalid_request', 'The body is not valid: expires_at must lie ahead.', {
        errors: [{ path: 'expires_at', message: 'must lie ahead' }],
      })
    if ((await store.namedKeys.list(merchant.id)).length >= KEYS_MAX)
      throw new ApiError('invalid_state', `A merchant has at most ${KEYS_MAX} named keys; revoke one first.`)
    return {
      ...{ id: uuidv7At(at), merchantId: merchant.id, name: body.name, scopes: body.scopes, prefix: plain.slice(0, PREFIX_LENGTH) },
      ...{ createdBy: actor(res).userId, createdAt: at, expiresAt, lastUsedAt: null, revokedAt: null, salt: null },
    }
  }
  /** The same request again gives the same key: it is derived again, and nowhere kept. */
  const createdOnce = async (merchant: Merchant, body: CreateApiKey, idempotencyKey: string, res: Response) => {
    const source = { secrets: sealKeys, merchantId: merchant.id, idempotencyKey }
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
  return router
}

/** Removes what keys could be derived from again, once they are not shown again any more. */
export async function forgetKeyRequests(store: Store): Promise<void> {
  await Promise.all([store.apiKeys.forgetRequests(), store.namedKeys.forgetRequests()])
}
