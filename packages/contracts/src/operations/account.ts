import { createApiKey, SPECIFIED_KEY_SCOPES } from '../api/account/access'
import { exportAudit, listAudit } from '../api/account/audit'
import { updateMailPreferences } from '../api/account/mail'
import { acceptInvitation, createInvitation, memberKeysQuery, updateMember } from '../api/account/member'
import { updateBranding } from '../api/branding'
import { createMerchant, merchantQuery, signPayoutAddress, signPayoutChange, updateMerchant } from '../api/merchant'
import { byEither, byKey, bySession, ends, file, guarded } from './operation'

const owner = 'api-gateway'
const reads = { owner, permission: 'merchant:read', tag: 'Merchant' } as const
const writes = { owner, permission: 'merchant:write', tag: 'Merchant' } as const
const merchant = { answers: { 200: 'Merchant' } } as const

export const merchants = {
  createMerchant: bySession('post', '/merchants', {
    ...{
      owner,
      permission: null,
      tag: 'Merchant',
      secret: 'made',
      login: 'fresh_of_member',
      audit: 'merchant.create',
      summary: 'Create your merchant; shows the API key once',
    },
    description: 'Who belongs to a merchant already needs a login of the last minutes.',
    body: createMerchant,
    example: {
      display_name: 'Padaria Estrela',
      webhook_url: 'https://example.com/webhooks',
      payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
    answers: { 201: 'MerchantWithKey' },
    errors: ['merchant_exists', 'payout_address_refused'],
  }),
  getMerchant: bySession('get', '/merchants/me', {
    ...{ ...reads, ...merchant, secret: 'shown', query: merchantQuery, summary: 'Get your merchant' },
    description:
      '`webhook_secret` is null but for a login of the last minutes that may replace it: that it was shown stands in the audit log and in a mail. ' +
      'With `secrets=hidden` it is not shown.',
  }),
  getMerchantOfKey: byKey('get', '/merchant', { ...reads, ...merchant, summary: 'Get the merchant of your key' }),
  updateMerchant: bySession('patch', '/merchants/me', {
    ...{
      ...writes,
      ...merchant,
      ...guarded,
      waits: 'payout_address',
      audit: 'merchant.update',
      summary: 'Change your merchant',
    },
    description:
      'The first `payout_address` of a new merchant is in force at once. Changing or clearing it wants a login of the last minutes, and another address waits: see ' +
      '`pending_payout_change`. One for a single network (`payout_addresses`) waits the first time, too, and gives new orders another deposit address there. `payment_tolerance` wants the same right (`payout:write`); open orders keep theirs. So does `refund_approval_above`, which holds for the next signature, and `chain_ids`, ' +
      'which holds for new orders, those of links and plans too.',
    body: updateMerchant,
    example: { webhook_url: 'https://example.com/new-webhooks' },
    errors: ['payout_address_refused', 'payout_address_required'],
  }),
  getBranding: bySession('get', '/merchants/me/branding', {
    ...{ ...reads, summary: 'See how your checkout looks', answers: { 200: 'Branding' } },
  }),
  updateBranding: bySession('patch', '/merchants/me/branding', {
    ...{ ...writes, ...guarded, audit: 'branding.update', summary: 'Change how your checkout looks', body: updateBranding },
    example: { color: '#0e6b54', contact_email: 'ola@padaria.example', terms_url: 'https://padaria.example/terms' },
    answers: { 200: 'Branding' },
  }),
  signPayoutAddress: bySession('post', '/merchants/me/payout-address/sign', {
    ...{ ...writes, ...merchant, permission: 'payout:write', ...guarded, audit: 'payout_address.sign' },
    summary: 'Sign the payout address in force',
    description:
      'With a signature of `payout_proof.message` by its key, which is kept for the origin dossier; it changes nothing else, and an address that is signed stays as it ' +
      'is. A contract cannot sign. An address that was signed while it waited needs no other signature.',
    body: signPayoutAddress,
    example: { signature: `0x${'1b'.repeat(65)}` },
    errors: ['invalid_state'],
  }),
  signPayoutChange: bySession('post', '/merchants/me/payout-changes/:id/sign', {
    ...{
      ...writes,
      ...merchant,
      permission: 'payout:write',
      informs: 'account',
      whileFrozen: 'refused',
      audit: 'payout_change.sign',
      summary: 'Sign a payout address that waits',
    },
    description: 'With a signature of `message` by the key of the new address it waits a shorter time. A contract cannot sign.',
    body: signPayoutChange,
    example: { signature: `0x${'1b'.repeat(65)}` },
  }),
  approvePayoutChange: bySession('post', '/merchants/me/payout-changes/:id/approve', {
    ...{ ...writes, ...merchant, permission: 'payout:write', ...guarded, audit: 'payout_change.approve' },
    summary: 'Approve a payout address that another owner requested',
    description: 'It waits as long as a signed one then. You must have been an owner for as long.',
    errors: ['invalid_state'],
  }),
  /** More members than may ask for a change can stop one. */
  cancelPayoutChange: bySession('post', '/merchants/me/payout-changes/:id/cancel', {
    ...{
      ...writes,
      ...merchant,
      informs: 'account',
      audit: 'payout_change.cancel',
      summary: 'Cancel a change of the payout address that waits',
    },
  }),
  /** The new key may do what the specification lists: who may not, makes no such key. */
  rotateKey: bySession('post', '/merchants/me/rotate-key', {
    ...{ ...writes, permission: 'keys:write', also: SPECIFIED_KEY_SCOPES, ...guarded, audit: 'api_key.rotate', keyed: true },
    summary: 'Invalidate the API key and show a new one once',
    answers: { 200: 'MerchantWithNewKey' },
  }),
  rotateWebhookSecret: bySession('post', '/merchants/me/rotate-webhook-secret', {
    ...{ ...writes, ...merchant, permission: 'secrets:write', ...guarded, secret: 'made', audit: 'webhook_secret.rotate' },
    summary: 'Get a new webhook secret, not yet in force',
    description: 'The present secret signs until you activate the new one, or for 24 hours.',
  }),
  activateWebhookSecret: bySession('post', '/merchants/me/activate-webhook-secret', {
    ...{ ...writes, ...merchant, permission: 'secrets:write', ...guarded, secret: 'shown', audit: 'webhook_secret.activate' },
    summary: 'Put the new webhook secret in force',
    errors: ['invalid_state'],
  }),
  getOverview: bySession('get', '/merchants/me/overview', {
    ...{ owner, permission: 'orders:read', tag: 'Dashboard', summary: 'What happened lately', answers: { 200: 'Overview' } },
  }),
  listAudit: byEither('get', '/audit', {
    ...{ owner, permission: 'audit:read', tag: 'Merchant', alias: 'listMyAudit', summary: 'List who changed what', query: listAudit },
    answers: { 200: 'AuditEntryList' },
  }),
  exportAudit: file(
    '/audit.csv',
    { owner, permission: 'audit:read', tag: 'Merchant', alias: 'exportMyAudit', query: exportAudit },
    'who changed what',
  ),
}

/** To see keys is to know how to use them. */
const keys = { owner, permission: 'keys:write', tag: 'Keys' } as const

export const apiKeys = {
  listApiKeys: bySession('get', '/merchants/me/api-keys', {
    ...{ ...keys, summary: 'List your named API keys', answers: { 200: 'ApiKeyList' } },
  }),
  createApiKey: bySession('post', '/merchants/me/api-keys', {
    ...{ ...keys, ...guarded, audit: 'named_key.create', keyed: true, summary: 'Make a named API key; shows it once' },
    description: 'It may do what its scopes name, beside the API key that your merchant was created with, which stays as it is.',
    body: createApiKey,
    example: { name: 'ERP', scopes: ['orders:read', 'deliveries:write'], expires_at: '2027-11-20T12:00:00.000Z' },
    answers: { 201: 'ApiKeyWithSecret' },
    errors: ['idempotency_mismatch', 'invalid_state'],
  }),
  getApiKey: bySession('get', '/merchants/me/api-keys/:id', { ...keys, summary: 'Get a named API key', answers: { 200: 'ApiKey' } }),
  revokeApiKey: bySession('delete', '/merchants/me/api-keys/:id', {
    ...{ ...keys, ...ends, audit: 'named_key.revoke', summary: 'Revoke a named API key at once', answers: { 200: 'ApiKey' } },
  }),
}

const sees = { owner, permission: 'members:read', tag: 'Members' } as const
const sets = { owner, permission: 'members:write', tag: 'Members' } as const
/** Every member decides about their own mailbox. */
const mail = { owner, permission: 'merchant:read', tag: 'Members', answers: { 200: 'MailPreferences' } } as const

export const members = {
  listMerchants: bySession('get', '/merchants', {
    ...{ owner, permission: null, tag: 'Members', summary: 'List the merchants that you belong to', answers: { 200: 'MembershipList' } },
  }),
  acceptInvitation: bySession('post', '/invitations/accept', {
    ...{
      owner,
      permission: null,
      tag: 'Members',
      informs: 'account',
      waits: 'owners',
      audit: 'member.join',
      summary: 'Join a merchant',
      body: acceptInvitation,
    },
    description: 'Your session must carry the invited address as `email`, with `email_verified`.',
    example: { token: `inv_${'0123456789abcdef'.repeat(4)}` },
    answers: { 200: 'Membership' },
    errors: ['not_found', 'forbidden', 'invalid_state'],
  }),
  listWaitingChanges: bySession('get', '/waiting-changes', {
    ...{ owner, permission: null, tag: 'Members', summary: 'List what waits of owners and payout addresses' },
    description: 'Of every merchant that you own, and what was requested while you were an owner of it.',
    answers: { 200: 'WaitingChangeList' },
  }),
  cancelWaitingChange: bySession('post', '/waiting-changes/:id/cancel', {
    ...{ owner, permission: null, tag: 'Members', informs: 'account', audit: 'owner_change.cancel', summary: 'Cancel a change that waits' },
    description:
      'A user who was an owner when it was requested may, also when they are none any more. The owner whom it puts out objects instead where a third owner could confirm it: then it ends without effect unless that one does.',
    answers: { 200: 'WaitingChange' },
    errors: ['not_found', 'forbidden'],
  }),
  confirmWaitingChange: bySession('post', '/waiting-changes/:id/confirm', {
    ...{ owner, permission: null, tag: 'Members', ...guarded, waits: 'owners', audit: 'owner_change.confirm' },
    summary: 'Confirm that an owner is demoted or removed',
    description:
      'By a third owner, beside who requested it and whom it puts out. It waits two days again, in which every owner of before can cancel it, but not the one whom it puts out alone.',
    answers: { 200: 'WaitingChange' },
    errors: ['not_found', 'forbidden'],
  }),
  listMembers: bySession('get', '/merchants/me/members', { ...sees, summary: 'List the members', answers: { 200: 'MemberList' } }),
  updateMember: bySession('patch', '/merchants/me/members/:id', {
    ...{
      ...sets,
      ...guarded,
      waits: 'owners',
      audit: 'member.update',
      summary: 'Give a member another role',
      query: memberKeysQuery,
    },
    description:
      'What makes an owner, or unmakes one, waits two days (202), in which every owner can cancel it. Named API keys that the member made and could not ' +
      'make in the new role are revoked, unless `keep_api_keys=true`.',
    body: updateMember,
    example: { role: 'viewer' },
    answers: { 200: 'UpdatedMember', 202: 'WaitingChange' },
    errors: ['invalid_state'],
  }),
  removeMember: bySession('delete', '/merchants/me/members/:id', {
    ...{
      ...sets,
      ...guarded,
      waits: 'owners',
      audit: 'member.remove',
      summary: 'Remove a member',
      query: memberKeysQuery,
    },
    description:
      'At once, but for an owner: that waits two days (202), in which every owner can cancel it. The last owner stays. The named API keys that the member made are revoked, unless `keep_api_keys=true`; a change of the payout address that they requested is withdrawn.',
    answers: { 200: 'DeletedMember', 202: 'WaitingChange' },
    errors: ['invalid_state'],
  }),
  getMailPreferences: bySession('get', '/merchants/me/mail', { ...mail, summary: 'Get what you receive by mail' }),
  updateMailPreferences: bySession('patch', '/merchants/me/mail', {
    ...{ ...mail, informs: 'account', audit: 'mail.update', summary: 'Choose what you receive by mail', body: updateMailPreferences },
    description:
      'For you alone; owners always receive `account`, and learn of other `topics` that a member chose. Mails go to the verified address of the session that asks.',
    example: { language: 'pt', topics: ['account', 'attention'] },
  }),
  listInvitations: bySession('get', '/merchants/me/invitations', {
    ...{ ...sees, summary: 'List the last hundred invitations', answers: { 200: 'InvitationList' } },
  }),
  createInvitation: bySession('post', '/merchants/me/invitations', {
    ...{ ...sets, ...guarded, audit: 'invitation.create', summary: 'Invite a colleague; shows the token once', body: createInvitation },
    description:
      'The token works once, within seven days, for a user whose verified e-mail address is this one. Who joins as an owner is a viewer for two days, in which every owner can cancel it.',
    example: { email: 'ana@example.com', role: 'finance' },
    answers: { 201: 'InvitationWithToken' },
  }),
  getInvitation: bySession('get', '/merchants/me/invitations/:id', {
    ...{ ...sees, summary: 'Get an invitation', answers: { 200: 'Invitation' } },
  }),
  revokeInvitation: bySession('delete', '/merchants/me/invitations/:id', {
    ...{ ...sets, informs: 'account', audit: 'invitation.revoke', summary: 'Revoke an invitation', answers: { 200: 'Invitation' } },
    description: 'One that was accepted is 409: remove the member.',
    errors: ['invalid_state'],
  }),
}

const logins = { owner, permission: null, tag: 'Sessions' } as const

/**
 * Where a user's login is in use. To end one wants no fresh login, because who does it may be in a hurry; but an old login ends no newer one, or a stolen session would put its
 * user out.
 */
export const sessions = {
  listSessions: bySession('get', '/sessions', {
    ...{ ...logins, summary: 'List the sessions of your login', answers: { 200: 'SessionList' } },
    description: 'Of you as a user, at whatever merchant, the last fifty that were used here. One that is not used for 90 days is over.',
  }),
  endSession: bySession('delete', '/sessions/:id', {
    ...{ ...logins, informs: 'account', audit: 'session.end', summary: 'End a session of your login', answers: { 200: 'EndedSession' } },
    description:
      'Its tokens are refused from then on. At the identity provider it ends when it is renewed here. A login of the last minutes ends any, an older one those that began before it.',
    errors: ['not_found', 'fresh_login_required', 'second_factor_required'],
  }),
  endOtherSessions: bySession('post', '/sessions/end-others', {
    ...{ ...logins, informs: 'account', audit: 'session.end_others', answers: { 200: 'EndedSessions' } },
    summary: 'End all sessions of your login but this one',
    description:
      'Those that were never used here too. `count` is how many were. A login of the last minutes ends all, an older one those that began before it.',
    errors: ['fresh_login_required', 'second_factor_required'],
  }),
}
