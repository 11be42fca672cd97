import { listAudit, listDeliveries, memberKeysQuery, summaryQuery } from '@ponte/contracts'
import { api, me, type Operation, owned } from './operation'

const audit = {
  tag: 'Merchant',
  summary: 'List who changed what',
  query: listAudit,
  answers: { 200: 'AuditEntryList' },
} as const
const KEYS = '/api-keys'

const user = (
  method: Operation['method'],
  path: string,
  rest: Omit<Operation, 'method' | 'path' | 'credential' | 'permission'>,
): Operation => ({
  ...{ method, path: `/api/v1${path}`, credential: 'session', permission: null },
  ...rest,
})

/** Who belongs to a merchant. */
export const people: Operation[] = [
  user('get', '/merchants', {
    id: 'listMerchants',
    tag: 'Members',
    summary: 'List the merchants that you belong to',
    answers: { 200: 'MembershipList' },
  }),
  user('post', '/invitations/accept', {
    ...{ id: 'acceptInvitation', tag: 'Members', summary: 'Join a merchant', body: 'AcceptInvitation', answers: { 200: 'Membership' } },
    description: 'Your session must carry the invited address as `email`, with `email_verified`.',
    errors: ['not_found', 'forbidden', 'invalid_state'],
  }),
  me('get', '/members', { id: 'listMembers', tag: 'Members', summary: 'List the members', answers: { 200: 'MemberList' } }),
  me('patch', '/members/:id', {
    ...{ id: 'updateMember', tag: 'Members', summary: 'Give a member another role', query: memberKeysQuery },
    ...{ body: 'UpdateMember', answers: { 200: 'UpdatedMember' } },
    description: 'Who may not make keys any more loses the named API keys that they made, unless `keep_api_keys=true`.',
    errors: ['invalid_state', 'fresh_login_required'],
  }),
  me('delete', '/members/:id', {
    ...{ id: 'removeMember', tag: 'Members', summary: 'Remove a member at once', query: memberKeysQuery },
    answers: { 200: 'DeletedMember' },
    description:
      'The last owner stays. The named API keys that the member made are revoked, unless `keep_api_keys=true`; a change of the payout address that they requested is withdrawn.',
    errors: ['invalid_state', 'fresh_login_required'],
  }),
  me('get', '/mail', {
    id: 'getMailPreferences',
    tag: 'Members',
    summary: 'Get what you receive by mail',
    answers: { 200: 'MailPreferences' },
  }),
  me('patch', '/mail', {
    ...{ id: 'updateMailPreferences', tag: 'Members', summary: 'Choose what you receive by mail', body: 'UpdateMailPreferences' },
    description: 'For you alone. Owners always receive `account`. Mails go to the verified address of the session that asks.',
    answers: { 200: 'MailPreferences' },
  }),
  me('get', '/invitations', {
    id: 'listInvitations',
    tag: 'Members',
    summary: 'List the last hundred invitations',
    answers: { 200: 'InvitationList' },
  }),
  me('post', '/invitations', {
    ...{ id: 'createInvitation', tag: 'Members', summary: 'Invite a colleague; shows the token once', body: 'CreateInvitation' },
    description: 'The token works once, within seven days, for a user whose verified e-mail address is this one.',
    answers: { 201: 'InvitationWithToken' },
    errors: ['fresh_login_required'],
  }),
  me('get', '/invitations/:id', { id: 'getInvitation', tag: 'Members', summary: 'Get an invitation', answers: { 200: 'Invitation' } }),
  me('delete', '/invitations/:id', {
    id: 'revokeInvitation',
    tag: 'Members',
    summary: 'Revoke an invitation',
    answers: { 200: 'Invitation' },
  }),
]

/** Named keys, the audit log, and what such a key can do that used to need a session. */
export const account: Operation[] = [
  me('get', '/branding', { id: 'getBranding', tag: 'Merchant', summary: 'See how your checkout looks', answers: { 200: 'Branding' } }),
  me('patch', '/branding', {
    ...{
      id: 'updateBranding',
      tag: 'Merchant',
      summary: 'Change how your checkout looks',
      body: 'UpdateBranding',
      answers: { 200: 'Branding' },
    },
  }),
  me('get', '/audit', { ...audit, id: 'listMyAudit' }),
  me('get', KEYS, { id: 'listApiKeys', tag: 'Keys', summary: 'List your named API keys', answers: { 200: 'ApiKeyList' } }),
  me('post', KEYS, {
    ...{ id: 'createApiKey', tag: 'Keys', summary: 'Make a named API key; shows it once', body: 'CreateApiKey' },
    description: 'It may do what its scopes name, beside the API key that your merchant was created with, which stays as it is.',
    answers: { 201: 'ApiKeyWithSecret' },
    errors: ['idempotency_mismatch', 'invalid_state', 'fresh_login_required'],
  }),
  me('get', `${KEYS}/:id`, { id: 'getApiKey', tag: 'Keys', summary: 'Get a named API key', answers: { 200: 'ApiKey' } }),
  me('delete', `${KEYS}/:id`, { id: 'revokeApiKey', tag: 'Keys', summary: 'Revoke a named API key at once', answers: { 200: 'ApiKey' } }),
  api('get', '/audit', { ...audit, id: 'listAudit' }),
  api('get', '/merchant', {
    id: 'getMerchantOfKey',
    tag: 'Merchant',
    summary: 'Get the merchant of your key',
    answers: { 200: 'Merchant' },
  }),
  api('get', '/summary', {
    ...{ id: 'getSummaryOfKey', tag: 'Orders', summary: 'What was paid, day by day', query: summaryQuery, answers: { 200: 'Summary' } },
  }),
  api('get', '/deliveries', {
    ...{
      id: 'listDeliveriesOfKey',
      tag: 'Events',
      summary: 'List webhook deliveries',
      query: listDeliveries,
      answers: { 200: 'DeliveryList' },
    },
  }),
  api('get', '/deliveries/:id', {
    ...{
      id: 'getDeliveryOfKey',
      tag: 'Events',
      summary: 'Get a delivery with its attempts',
      answers: { 200: 'DeliveryDetail' },
      errors: owned,
    },
  }),
  api('post', '/deliveries/:id/replay', {
    ...{ id: 'replayDeliveryOfKey', tag: 'Events', summary: 'Deliver an event again', answers: { 200: 'Delivery', 201: 'Delivery' } },
    errors: [...owned, 'invalid_state'],
  }),
  api('post', '/deliveries/replay', {
    ...{ id: 'replayDeliveriesOfKey', tag: 'Events', summary: 'Deliver the events of a time range again', body: 'ReplayDeliveries' },
    answers: { 200: 'Replayed' },
    errors: ['invalid_state'],
  }),
]

/** What is done with a payout address that waits. */
export const payoutChanges: Operation[] = [
  me('post', '/payout-changes/:id/sign', {
    ...{ id: 'signPayoutChange', tag: 'Merchant', summary: 'Sign a payout address that waits', body: 'SignPayoutChange' },
    description: 'With a signature of `message` by the key of the new address it waits a shorter time. A contract cannot sign.',
    answers: { 200: 'Merchant' },
  }),
  me('post', '/payout-changes/:id/approve', {
    ...{ id: 'approvePayoutChange', tag: 'Merchant', summary: 'Approve a payout address that another owner requested' },
    description: 'Once it is signed too, it is in force at once. You must have been an owner for as long as a signed change waits.',
    answers: { 200: 'Merchant' },
    errors: ['fresh_login_required', 'invalid_state'],
  }),
  me('post', '/payout-changes/:id/cancel', {
    ...{ id: 'cancelPayoutChange', tag: 'Merchant', summary: 'Cancel a change of the payout address that waits' },
    answers: { 200: 'Merchant' },
  }),
]
