import { randomBytes } from 'node:crypto'
import { createMerchant as createBody, updateMerchant as updateBody } from '@ponte/contracts'
import { parseRequest, seal, uuidv7 } from '@ponte/service-kit'
import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import {
  API_KEY_ENTROPY_BYTES,
  type DerivedFrom,
  deriveApiKey,
  deriveApiKeyAgain,
  mintApiKey,
  rememberAccess,
  requirePermissionFor,
  termsIn,
  userIn,
} from '../credentials'
import { jsonBody } from '../json-body'
import {
  activateWebhookSecret,
  type Change,
  createMerchant,
  type Merchant,
  permissionsOf,
  rotateWebhookSecret,
  updateMerchant,
  vetPayoutAddress,
} from '../merchant'
import type { Action } from '../store/audit-log'
import { type AccountDeps, actor, bodyFor, changeOwn, isFreshLogin, own, repeatableBy, requireFreshLogin } from './changes'

const nothing = z.strictObject({})
const SALT_BYTES = 32
const mintSecret = () => `whsec_${randomBytes(32).toString('hex')}`
const mint = () => mintApiKey(randomBytes(API_KEY_ENTROPY_BYTES))

/** What users do with their own merchant (specification, Merchant self-management). */
export function merchantRoutes(deps: AccountDeps): Router {
  const { store, now, orders, sealKeys, session } = deps
  const router = Router()
  const bodyOf = (merchant: Merchant, res: Response) => bodyFor(deps, merchant, res)
  const sealedSecret = (merchantId: string) => seal(mintSecret(), sealKeys, merchantId)

  router.post('/api/v1/merchants', ...session, async (req, res) => {
    const body = parseRequest(createBody, jsonBody(req), 'body')
    const id = uuidv7()
    const opened = createMerchant(body, { id, userId: userIn(res).id, sealedWebhookSecret: sealedSecret(id), at: now() })
    const change = await vetPayoutAddress(orders, opened, null)
    const key = mint()
    await store.merchants.insert(change, key.hash, actor(res))
    rememberAccess(res, { permissions: permissionsOf('owner'), subject: 'The owner' })
    res
      .status(201)
      .location('/api/v1/merchants/me')
      .json({ ...bodyOf(change.merchant, res), api_key: key.plain })
  })

  router.get('/api/v1/merchants/me', ...session, async (_req, res) => {
    res.json(bodyOf(await own(store, res), res))
  })

  router.get('/api/v1/merchant', ...deps.apiKey, async (_req, res) => {
    const merchant = await store.merchants.find(termsIn(res).merchant_id)
    if (!merchant) throw new Error('A key has no merchant.')
    res.json(bodyOf(merchant, res))
  })

  router.patch('/api/v1/merchants/me', ...session, async (req, res) => {
    const body = parseRequest(updateBody, jsonBody(req), 'body')
    const request = { id: uuidv7(), userId: userIn(res).id, at: now(), isFresh: isFreshLogin(res, deps) }
    const decide = (merchant: Merchant) => {
      const change = updateMerchant(merchant, body, request, deps.payoutGuard)
      if (isPayoutDecision(change)) requirePermissionFor(res, 'payout:write')
      return vetPayoutAddress(orders, change, merchant)
    }
    res.json(bodyOf(await changeOwn(store, res, 'merchant.update', decide), res))
  })

  router.post('/api/v1/merchants/me/rotate-key', ...session, async (req, res) => {
    parseRequest(nothing, jsonBody(req), 'body')
    const merchant = await own(store, res)
    const idempotencyKey = repeatableBy(req, res, merchant)
    const plain = idempotencyKey === undefined ? await rotated(merchant, res) : await rotatedOnce(merchant, idempotencyKey, res)
    res.json({ ...bodyOf(merchant, res), api_key: plain })
  })

  const rotated = async (merchant: Merchant, res: Response): Promise<string> => {
    const key = mint()
    await store.apiKeys.rotate(merchant, key.hash, actor(res), null)
    return key.plain
  }
  const rotatedOnce = async (merchant: Merchant, idempotencyKey: string, res: Response): Promise<string> => {
    const source = { secrets: sealKeys, merchantId: merchant.id, idempotencyKey }
    const replayed = async (known: DerivedFrom) => {
      await store.auditLog.note(merchant, 'api_key.show_again', ['api_key'], actor(res))
      res.setHeader('Idempotency-Replayed', 'true')
      return deriveApiKeyAgain(source, known).plain
    }
    const known = await store.apiKeys.derivedFrom(merchant.id, idempotencyKey)
    if (known) return replayed(known)
    const salt = randomBytes(SALT_BYTES)
    const key = deriveApiKey(source, salt)
    if (await store.apiKeys.rotate(merchant, key.hash, actor(res), { idempotencyKey, salt })) return key.plain
    const first = await store.apiKeys.derivedFrom(merchant.id, idempotencyKey)
    if (!first) throw new Error('A repeated rotation left no key.')
    return replayed(first)
  }

  const secretRoute = (action: Action, decide: (merchant: Merchant) => Change) => async (req: Request, res: Response) => {
    parseRequest(nothing, jsonBody(req), 'body')
    await own(store, res)
    requireFreshLogin(res, deps)
    res.json(bodyOf(await changeOwn(store, res, action, decide), res))
  }
  router.post(
    '/api/v1/merchants/me/rotate-webhook-secret',
    ...session,
    secretRoute('webhook_secret.rotate', merchant => rotateWebhookSecret(merchant, sealedSecret(merchant.id), now())),
  )
  router.post(
    '/api/v1/merchants/me/activate-webhook-secret',
    ...session,
    secretRoute('webhook_secret.activate', merchant => activateWebhookSecret(merchant, now())),
  )
  return router
}

/** Withdrawing what waits is for all who may change the merchant. */
const isPayoutDecision = ({ changed, merchant }: Change) =>
  changed.includes('payout_address') || (changed.includes('pending_payout_change') && merchant.pendingPayout !== null)
