import type { AccountChange, MailKind, Notice } from './mail'

/** Actions that a member is notified of, and the kind of the mail. */
const KINDS = {
  'payout_address.sign': 'payout.proven',
  'payout_change.sign': 'payout.signed',
  'payout_change.approve': 'payout.approved',
  'payout_change.cancel': 'payout.cancelled',
  'payout_change.activate': 'payout.changed',
  'api_key.rotate': 'key.rotated',
  'api_key.show_again': 'key.shown_again',
  'named_key.create': 'key.created',
  'named_key.show_again': 'key.shown_again',
  'named_key.revoke': 'key.revoked',
  'invitation.create': 'member.invited',
  'invitation.revoke': 'member.uninvited',
  'member.join': 'member.joined',
  'member.update': 'member.updated',
  'member.remove': 'member.removed',
  'owner_change.cancel': 'owner.cancelled',
  'owner_change.confirm': 'owner.confirmed',
  'owner_change.activate': 'owner.changed',
  'session.end': 'session.ended',
  'session.end_others': 'session.ended',
  'merchant.freeze': 'account.frozen',
  'merchant.unfreeze': 'account.unfrozen',
  'webhook_secret.rotate': 'secret.rotated',
  'webhook_secret.activate': 'secret.activated',
  'webhook_secret.show_again': 'secret.shown_again',
  'endpoint_secret.show_again': 'secret.shown_again',
  'endpoint.create': 'endpoint.created',
  'endpoint.update': 'endpoint.changed',
  'endpoint.delete': 'endpoint.deleted',
  'endpoint_secret.rotate': 'endpoint.secret_rotated',
  'endpoint_secret.activate': 'endpoint.secret_activated',
  'branding.update': 'branding.changed',
  'mail.update': 'mail.changed',
  'order.accept': 'accepted.order',
  'subscription.accept': 'accepted.charge',
  'refund.create': 'refund.created',
  'refund.approve': 'refund.approved',
  'refund_claim.create': 'refund_claim.created',
} as const satisfies Readonly<Record<string, MailKind>>

/** The mail about a change of the account; null when none is sent. It names what changed, never a secret. */
export function accountNotice(entry: AccountChange, payout: Payout): Notice | null {
  const kind = kindOf(entry)
  if (!kind) return null
  const { merchantId, action, changed, userId, network, target = null, at } = entry
  return {
    ...{ merchantId, topic: 'account', kind, at },
    facts: {
      ...{ action, changed, user_id: userId, network, at },
      ...(kind.startsWith('accepted.')
        ? { reference: target, page: `/${kind === 'accepted.order' ? 'orders' : 'subscriptions'}/${target}` }
        : {}),
      ...(kind === 'owner.waiting' || kind === 'owner.confirmed' ? { activates_at: payout.ownerChanges.at(-1)?.activatesAt ?? null } : {}),
      ...(kind.startsWith('payout.') ? payoutFacts(payout) : {}),
    },
  }
}

const payoutFacts = ({ payoutAddress, payoutAddresses, pendingPayout: waits }: Payout) => ({
  address: waits?.address ?? payoutAddress,
  activates_at: waits?.activatesAt ?? null,
  ...(waits && waits.chainId !== null ? { payout_network: String(waits.chainId) } : {}),
  ...(payoutAddresses ? { network_addresses: Object.entries(payoutAddresses).map(([chainId, address]) => `${chainId} ${address}`) } : {}),
})

interface Payout {
  payoutAddress: string | null
  payoutAddresses: Readonly<Record<string, string>> | null
  pendingPayout: { chainId: number | null; address: string; activatesAt: Date } | null
  /** Of the owners, the latest last. */
  ownerChanges: readonly { activatesAt: Date }[]
}

function kindOf({ action, changed }: AccountChange): MailKind | null {
  if (action.startsWith('member.') && changed.includes('pending_owner_change')) return 'owner.waiting'
  // By a signature or an approval, too, where its time had passed.
  if (changed.includes('payout_address') || changed.includes('payout_addresses')) return 'payout.changed'
  if (action !== 'merchant.update') return Object.hasOwn(KINDS, action) ? KINDS[action as keyof typeof KINDS] : null
  if (changed.includes('pending_payout_change')) return 'payout.waiting'
  if (changed.includes('refund_approval_above')) return 'refund_limit.changed'
  if (changed.includes('chain_ids') || changed.includes('payment_tolerance')) return 'terms.changed'
  if (changed.includes('webhook_url')) return 'webhook_url.changed'
  return changed.includes('display_name') ? 'merchant.renamed' : null
}
