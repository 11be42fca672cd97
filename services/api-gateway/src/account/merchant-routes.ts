import { randomBytes } from 'node:crypto'
import { type Operation, operations } from '@ponte/contracts'
import { seal, uuidv7 } from '@ponte/service-kit'
import type { Request, Response } from 'express'
import { API_KEY_ENTROPY_BYTES, type DerivedFrom, deriveApiKey, deriveApiKeyAgain, mintApiKey } from '../credentials/api-key'
import { rememberAccess, requirePermissionFor, termsIn, userIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import { permissionsOf } from '../merchant/member'
import {
  activateWebhookSecret,
  type Change,
  createMerchant,
  type Merchant,
  rotateWebhookSecret,
  updateMerchant,
} from '../merchant/merchant'
import { requireNotFrozen } from '../merchant/owner-change'
import { vetNetworks, vetPayoutAddress } from '../merchant/payable'
import type { Action } from '../store/audit-log'
import { type AccountDeps, actor, bodyFor, changeOwn, own, repeatableBy } from './changes'
import { shownSecret } from './shown-secret'
import { ownersOf } from './team'

const SALT_BYTES = 32
const mintSecret = () => `whsec_${randomBytes(32).toString('hex')}`

/** Specification, Merchant self-management. */
export function merchantHandlers(deps: AccountDeps) {
  const { store, now, orders, sealKeys, mode } = deps
  const mint = () => mintApiKey(randomBytes(API_KEY_ENTROPY_BYTES), mode)
  const bodyOf = (merchant: Merchant, withSecrets = false) => bodyFor(deps, merchant, withSecrets)
  const sealedSecret = (merchantId: string) => seal(mintSecret(), sealKeys, merchantId)

  const rotated = async (merchant: Merchant, res: Response): Promise<string> => {
    const key = mint()
    await store.apiKeys.rotate(merchant, key.hash, actor(res), null)
    return key.plain
  }
  const rotatedOnce = async (merchant: Merchant, idempotencyKey: string, res: Response): Promise<string> => {
    const source = { mode, secrets: sealKeys, merchantId: merchant.id, idempotencyKey }
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

  const changeSecret =
    (operation: Pick<Operation, 'secret' | 'owner'>, action: Action, decide: (merchant: Merchant) => Change) =>
    async (_asked: unknown, _req: Request, res: Response) => {
      // May refuse, so it comes before the change.
      const { isShown, note } = await shownSecret(deps, res, operation)
      const merchant = await changeOwn(store, res, action, decide)
      await note(null)
      const body = bodyOf(merchant, isShown)
      // One that is in force was made by another request.
      res.json(operation.secret === 'made' ? { ...body, webhook_secret: null } : body)
    }

  return handling({
    async createMerchant({ body }, _req, res) {
      const id = uuidv7()
      const opened = createMerchant(body, { id, userId: userIn(res).id, sealedWebhookSecret: sealedSecret(id), at: now() })
      const change = await vetPayoutAddress(orders, opened, null)
      const key = mint()
      await store.merchants.insert(change, key.hash, actor(res))
      rememberAccess(res, { permissions: permissionsOf('owner'), subject: 'The owner' })
      res
        .status(201)
        .location(operations.getMerchant.path)
        .json({ ...bodyOf(change.merchant, true), api_key: key.plain })
    },

    async getMerchant({ query }, _req, res) {
      const shown = query.secrets === 'hidden' ? null : await shownSecret(deps, res, operations.getMerchant)
      const merchant = await own(store, res)
      await shown?.note(null)
      res.json(bodyOf(merchant, shown?.isShown))
    },

    async getMerchantOfKey(_asked, _req, res) {
      const merchant = await store.merchants.find(termsIn(res).merchant_id)
      if (!merchant) throw new Error('A key has no merchant.')
      res.json(bodyOf(merchant))
    },

    async updateMerchant({ body }, _req, res) {
      const request = { id: uuidv7(), userId: userIn(res).id, at: now() }
      const decide = async (merchant: Merchant) => {
        const given = { ...request, owners: await ownersOf(store, merchant) }
        const change = updateMerchant(merchant, body, given, { ...deps.payoutGuard, toleranceMaxUnits: deps.toleranceMaxUnits })
        if (isPayoutDecision(change) || change.changed.some(name => MONEY_TERMS.includes(name))) requirePermissionFor(res, 'payout:write')
        if (change.merchant.chainIds !== merchant.chainIds) await vetNetworks(orders, change.merchant)
        return vetPayoutAddress(orders, change, merchant)
      }
      res.json(bodyOf(await changeOwn(store, res, 'merchant.update', decide)))
    },

    async rotateKey(_asked, req, res) {
      const merchant = await own(store, res)
      // Frozen since its guard looked, which has asked the provider meanwhile.
      requireNotFrozen(merchant)
      const idempotencyKey = repeatableBy(req, res)
      const plain = idempotencyKey === undefined ? await rotated(merchant, res) : await rotatedOnce(merchant, idempotencyKey, res)
      res.json({ ...bodyOf(merchant), api_key: plain })
    },

    rotateWebhookSecret: changeSecret(operations.rotateWebhookSecret, 'webhook_secret.rotate', merchant => {
      requireNotFrozen(merchant)
      return rotateWebhookSecret(merchant, sealedSecret(merchant.id), now())
    }),
    activateWebhookSecret: changeSecret(operations.activateWebhookSecret, 'webhook_secret.activate', merchant =>
      activateWebhookSecret(merchant, now()),
    ),
  })
}

const PAYOUT_TERMS: readonly string[] = ['payout_address', 'payout_addresses']
const MONEY_TERMS: readonly string[] = ['payment_tolerance', 'refund_approval_above', 'chain_ids']

/** Withdrawing what waits is for all who may change the merchant. */
const isPayoutDecision = ({ changed, merchant }: Change) =>
  changed.some(name => PAYOUT_TERMS.includes(name)) || (changed.includes('pending_payout_change') && merchant.pendingPayout !== null)
