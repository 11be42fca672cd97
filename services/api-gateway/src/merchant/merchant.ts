import {
  ApiError,
  type CreateMerchant,
  formatNullableUsdc,
  formatUsdc,
  invalidField,
  type MerchantTerms,
  type NewEvent,
  parseNullableUsdc,
  type UpdateBranding,
  type UpdateMerchant,
  vetWebhookUrl,
} from '@ponte/contracts'
import { checksumAddress } from './checksum-address'
import { frozen, requireNotFrozen, waitingAnew } from './owner-change'
import {
  activatePayout,
  approvePayout,
  cancelPayout,
  type Payout,
  type PayoutGuard,
  type PayoutRequest,
  provePayout,
  requestPayout,
  requestPayoutOn,
  retimed,
  type SignedText,
  signPayout,
} from './payout-change'

/** A merchant as the gateway keeps it. Secrets are sealed everywhere but in the answer to their owner. */
export interface Merchant extends Payout {
  id: string
  /** Its creator; null when they do not belong to it any more. */
  userId: string | null
  /** Grows with each published change. */
  version: number
  displayName: string
  webhookUrl: string | null
  /** By how much a new order may be short; null where nothing was chosen. */
  paymentToleranceUnits: bigint | null
  /** Above this sum the refunds of an order take two members; null for never. */
  refundApprovalAboveUnits: bigint | null
  /** The networks that new orders may be paid on, by number; null for all. */
  chainIds: number[] | null
  sealedWebhookSecret: string
  pending: PendingSecret | null
  branding: Branding
  createdAt: Date
  updatedAt: Date
}

/** Null is what Ponte shows by itself. */
export interface Branding {
  color: string | null
  contactEmail: string | null
  termsUrl: string | null
  /** Names the picture in the table of logos. */
  logoHash: string | null
}

export const PLAIN_BRANDING: Branding = { color: null, contactEmail: null, termsUrl: null, logoHash: null }

export interface PendingSecret {
  sealed: string
  activatesAt: Date
}

export interface Change {
  merchant: Merchant
  /** None when nothing changed. */
  events: NewEvent[]
  /** Names of what changed, for the audit log; never a value. */
  changed: string[]
}

/** A rotated secret takes effect when the merchant activates it, or after a day. */
export const SECRET_ACTIVATES_AFTER_MS = 24 * 3_600_000

/** Opens a merchant for a user. Throws ApiError `invalid_request` on a URL or an address that cannot be used. */
export function createMerchant(
  body: CreateMerchant,
  fields: { id: string; userId: string; sealedWebhookSecret: string; at: Date },
): Change {
  const merchant: Merchant = {
    id: fields.id,
    userId: fields.userId,
    version: 1,
    displayName: body.display_name,
    webhookUrl: checkedUrl(body.webhook_url ?? null),
    payoutAddress: checkedAddress(body.payout_address ?? null),
    payoutAddresses: null,
    payoutProof: null,
    paymentToleranceUnits: null,
    refundApprovalAboveUnits: null,
    chainIds: null,
    payoutIsContract: false,
    clearedPayoutAddress: null,
    pendingPayout: null,
    ownerChanges: [],
    payoutHeldUntil: null,
    frozenAt: null,
    sealedWebhookSecret: fields.sealedWebhookSecret,
    pending: null,
    branding: PLAIN_BRANDING,
    createdAt: fields.at,
    updatedAt: fields.at,
  }
  return { merchant, events: [updated(merchant)], changed: ['merchant'] }
}

/** Applies what the body names; a body that changes nothing is no change. Throws ApiError `invalid_request`. */
export function updateMerchant(
  merchant: Merchant,
  body: UpdateMerchant,
  given: Omit<PayoutRequest, 'isNew'>,
  guard: PayoutGuard & { toleranceMaxUnits: bigint },
): Change {
  const current = inForce(merchant, given.at)
  const request = { ...given, isNew: given.at.getTime() - merchant.createdAt.getTime() < guard.delayMs }
  const next: Merchant = {
    ...current,
    displayName: body.display_name ?? current.displayName,
    webhookUrl: body.webhook_url === undefined ? current.webhookUrl : checkedUrl(body.webhook_url),
    paymentToleranceUnits:
      body.payment_tolerance === undefined
        ? current.paymentToleranceUnits
        : checkedTolerance(body.payment_tolerance, guard.toleranceMaxUnits),
    refundApprovalAboveUnits:
      body.refund_approval_above === undefined ? current.refundApprovalAboveUnits : parseNullableUsdc(body.refund_approval_above),
    chainIds: body.chain_ids === undefined ? current.chainIds : chosenChains(body.chain_ids, current.chainIds),
    ...payoutOf(requestedPayout(current, body, request, guard)),
  }
  if (NOT_WHILE_FROZEN.some(key => next[key] !== current[key])) requireNotFrozen(current)
  const changed = (Object.keys(UPDATABLE) as (keyof typeof UPDATABLE)[])
    .filter(key => next[key] !== current[key])
    .map(key => UPDATABLE[key])
  return changed.length === 0 ? { merchant: current, events: [], changed: [] } : changeTo(next, changed, request.at)
}

/** Payout addresses that a request names: of all networks or of one, for each waits by itself. Throws `invalid_request`. */
function requestedPayout(
  merchant: Merchant,
  { payout_address: all, payout_addresses: own }: UpdateMerchant,
  request: PayoutRequest,
  guard: PayoutGuard,
): Payout {
  if (own === undefined) return all === undefined ? merchant : requestPayout(merchant, checkedAddress(all), request, guard)
  const [named, ...more] = Object.entries(own)
  if (all !== undefined || !named || more.length > 0)
    throw invalidField('payout_addresses', 'must name one network, and without payout_address: one address is changed at a time')
  const [chainId, address] = named
  return requestPayoutOn(merchant, Number(chainId), checkedAddress(address, 'payout_addresses'), request, guard)
}

/** Applies what is given to how the checkout looks; `logoHash` undefined leaves the picture. */
export function updateBranding(merchant: Merchant, body: Omit<UpdateBranding, 'logo'> & { logoHash?: string | null }, at: Date): Change {
  const current = merchant.branding
  const next: Branding = {
    color: body.color === undefined ? current.color : (body.color?.toLowerCase() ?? null),
    contactEmail: body.contact_email === undefined ? current.contactEmail : body.contact_email,
    termsUrl: body.terms_url === undefined ? current.termsUrl : body.terms_url,
    logoHash: body.logoHash === undefined ? current.logoHash : body.logoHash,
  }
  const changed = (Object.keys(BRANDING_NAMES) as (keyof Branding)[])
    .filter(key => next[key] !== current[key])
    .map(key => BRANDING_NAMES[key])
  return changed.length === 0 ? { merchant, events: [], changed: [] } : changeTo({ ...inForce(merchant, at), branding: next }, changed, at)
}

const BRANDING_NAMES = { color: 'color', contactEmail: 'contact_email', termsUrl: 'terms_url', logoHash: 'logo' } as const

const UPDATABLE = {
  displayName: 'display_name',
  webhookUrl: 'webhook_url',
  paymentToleranceUnits: 'payment_tolerance',
  refundApprovalAboveUnits: 'refund_approval_above',
  chainIds: 'chain_ids',
  payoutAddress: 'payout_address',
  payoutAddresses: 'payout_addresses',
  pendingPayout: 'pending_payout_change',
} as const

const NOT_WHILE_FROZEN = ['webhookUrl', 'paymentToleranceUnits', 'refundApprovalAboveUnits', 'chainIds'] as const

/** Decisions on the change of the payout address that waits under `id`. Each throws `not_found` when it does not any more. */
export const signPayoutChange = (merchant: Merchant, id: string, signed: SignedText, guard: PayoutGuard): Change =>
  payoutChanged(merchant, signPayout(merchant, id, signed, guard), signed.at)
export const approvePayoutChange = (
  merchant: Merchant,
  id: string,
  owner: { userId: string; since: Date; at: Date },
  guard: PayoutGuard,
): Change => payoutChanged(merchant, approvePayout(merchant, id, owner, guard), owner.at)
export const cancelPayoutChange = (merchant: Merchant, id: string, at: Date): Change =>
  payoutChanged(merchant, cancelPayout(merchant, id), at)

/** Keeps the signature of the address in force; one that is signed already is no change. */
export function signPayoutAddress(merchant: Merchant, signed: SignedText): Change {
  const next = provePayout(merchant, signed)
  return next === merchant
    ? { merchant, events: [], changed: [] }
    : changeTo({ ...inForce(merchant, signed.at), ...payoutOf(next) }, ['payout_proof'], signed.at)
}

/** Puts a change of the payout address in force whose time has come; otherwise no change. */
export function activatePayoutChange(merchant: Merchant, at: Date): Change {
  return payoutChanged(merchant, activatePayout(merchant, at), at)
}

function payoutChanged(merchant: Merchant, payout: Payout, at: Date): Change {
  if (payout === merchant) return { merchant, events: [], changed: [] }
  const changed = (['payoutAddress', 'payoutAddresses'] as const).find(key => payout[key] !== merchant[key]) ?? 'pendingPayout'
  return changeTo({ ...inForce(merchant, at), ...payoutOf(payout) }, [UPDATABLE[changed]], at)
}

const payoutOf = ({ payoutAddress, payoutAddresses, payoutProof, payoutIsContract, clearedPayoutAddress, pendingPayout }: Payout) => ({
  ...{ payoutAddress, payoutAddresses, payoutProof, payoutIsContract, clearedPayoutAddress, pendingPayout },
})

/** Stops every change of owners, payout address and endpoints, or lets them go on. A secret that waits may be known to a thief, so it never comes into force. */
export function freezeMerchant(merchant: Merchant, isFrozen: boolean, at: Date, guard: PayoutGuard): Change {
  const next = frozen(merchant, isFrozen, at, guard)
  if (next === merchant) return { merchant, events: [], changed: [] }
  const current = inForce(next, at)
  const changed = ['frozen', ...(current.pending ? ['pending_webhook_secret'] : [])]
  return changeTo({ ...current, pending: null, pendingPayout: retimed(next, guard) }, changed, at)
}

const MOMENT_MS = 60_000

/** Lets what waits wait anew, because the database went back: it may have been cancelled since. */
export function waitAnew(merchant: Merchant, at: Date, guard: PayoutGuard): Change {
  const holdMs = Math.max(guard.payoutHoldMs, guard.delayMs, guard.unsignedDelayMs)
  // Another replica has let it wait anew a moment ago.
  if ((merchant.payoutHeldUntil?.getTime() ?? 0) > at.getTime() + holdMs - MOMENT_MS) return { merchant, events: [], changed: [] }
  const next = waitingAnew(merchant, at, { ...guard, payoutHoldMs: holdMs })
  const changed = [
    ...(next.ownerChanges.length > 0 ? ['pending_owner_change'] : []),
    ...(next.pendingPayout ? [UPDATABLE.pendingPayout] : []),
  ]
  return changeTo({ ...inForce(next, at), pendingPayout: retimed(next, guard) }, changed, at)
}

/** A new secret waits beside the one in force; rotating again replaces the one that waits. */
export function rotateWebhookSecret(merchant: Merchant, sealed: string, at: Date): Change {
  const pending = { sealed, activatesAt: new Date(at.getTime() + SECRET_ACTIVATES_AFTER_MS) }
  return changeTo({ ...inForce(merchant, at), pending }, ['pending_webhook_secret'], at)
}

/** Puts the waiting secret in force now. Throws ApiError `invalid_state` when none waits. */
export function activateWebhookSecret(merchant: Merchant, at: Date): Change {
  const current = inForce(merchant, at)
  if (!current.pending) throw new ApiError('invalid_state', 'No new webhook secret is waiting; rotate it first.')
  return changeTo({ ...current, sealedWebhookSecret: current.pending.sealed, pending: null }, ['webhook_secret'], at)
}

/** The merchant at a moment: a secret that waited its day is the one in force. The dispatcher judges by the same times in its copy. */
export function inForce(merchant: Merchant, at: Date): Merchant {
  if (!merchant.pending || merchant.pending.activatesAt > at) return merchant
  return { ...merchant, sealedWebhookSecret: merchant.pending.sealed, pending: null }
}

export const termsOf = (merchant: Merchant): MerchantTerms => ({
  merchant_id: merchant.id,
  version: merchant.version,
  display_name: merchant.displayName,
  payout_address: merchant.payoutAddress,
  payment_tolerance: formatNullableUsdc(merchant.paymentToleranceUnits),
  refund_approval_above: formatNullableUsdc(merchant.refundApprovalAboveUnits),
  chain_ids: merchant.chainIds,
  ...(merchant.payoutAddresses === null ? {} : { payout_addresses: { ...merchant.payoutAddresses } }),
})

/** The merchant at its next version, published as well: what is decided under a version waits for it. */
export function atNextVersion(merchant: Merchant): { merchant: Merchant; event: NewEvent } {
  const next = { ...merchant, version: merchant.version + 1 }
  return { merchant: next, event: updated(next) }
}

function changeTo(next: Merchant, changed: string[], at: Date): Change {
  const { merchant, event } = atNextVersion({ ...next, updatedAt: at })
  return { merchant, events: [event], changed }
}

const updated = (merchant: Merchant): NewEvent => ({
  type: 'merchant.updated',
  data: {
    ...termsOf(merchant),
    payout_proof: merchant.payoutProof && {
      message: merchant.payoutProof.message,
      signature: merchant.payoutProof.signature,
      signed_at: merchant.payoutProof.signedAt.toISOString(),
    },
    webhook_url: merchant.webhookUrl,
    sealed_webhook_secret: merchant.sealedWebhookSecret,
    sealed_pending_webhook_secret: merchant.pending?.sealed ?? null,
    pending_webhook_secret_activates_at: merchant.pending?.activatesAt.toISOString() ?? null,
  },
})

function checkedUrl(text: string | null): string | null {
  if (text === null) return null
  const { refusal } = vetWebhookUrl(text)
  if (refusal !== undefined) throw invalidField('webhook_url', refusal)
  return text
}

function checkedAddress(text: string | null, field = 'payout_address'): string | null {
  if (text === null) return null
  const address = checksumAddress(text)
  if (!address) throw invalidField(field, 'does not match its EIP-55 checksum; a character may be mistyped')
  if (/^0x0{40}$/.test(address)) throw invalidField(field, 'must not be the zero address')
  return address
}

function checkedTolerance(text: string | null, maxUnits: bigint): bigint | null {
  const units = parseNullableUsdc(text)
  if (units !== null && units > maxUnits) throw invalidField('payment_tolerance', `must be at most ${formatUsdc(maxUnits)}`)
  return units
}

/** The same choice in another order is no change. */
function chosenChains(asked: readonly number[] | null, current: number[] | null): number[] | null {
  if (asked === null) return null
  const chosen = [...new Set(asked)].sort((a, b) => a - b)
  return String(chosen) === String(current) ? current : chosen
}
