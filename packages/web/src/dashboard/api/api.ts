import type {
  AttentionItemBody,
  AuditEntryBody,
  BrandingBody,
  CreateExport,
  CustomerErasureBody,
  DeletedEndpointBody,
  DeliveryBody,
  DeliveryDetailBody,
  EndedSessionsBody,
  EntryListBody,
  EraseCustomers,
  EventBody,
  ExplanationBody,
  ExportBody,
  ForeignTokenBody,
  InvitationBody,
  LinkBody,
  List,
  MailPreferencesBody,
  MemberBody,
  MembershipBody,
  MerchantBody,
  MerchantWithKeyBody,
  NamedKeyBody,
  NetworkListBody,
  OrderBody,
  OverviewBody,
  PendingChargeBody,
  RecoveryBody,
  RecoveryListBody,
  RefundBody,
  RefundClaimBody,
  RefundListBody,
  ReplayDeliveries,
  ReplayedBody,
  SessionBody,
  SignRefund,
  SubscriptionBody,
  SummaryBody,
  SummaryQuery,
  TestClockBody,
  TestScenarioList,
  TestScenarioName,
  TestSimulationBody,
  UpdateOrder,
  UpdateSubscription,
  WaitingChangeBody,
  WebhookEndpointBody,
} from '@ponte/contracts'
import { ask, RequestFailed, respond } from '../../problem'
import { chosenMerchant } from './chosen-merchant'
import { accessToken, refresh } from './session'

const MERCHANT_HEADER = 'Ponte-Merchant'
const ME = '/api/v1/merchants/me'

export type Query = Record<string, string | undefined>

async function call<T>(path: string, init: { method?: string; body?: object; key?: string } = {}): Promise<T> {
  const attempt = async () => {
    const token = await accessToken()
    const { body } = await ask<T>(path, {
      method: init.method ?? 'GET',
      headers: {
        ...credentialOf(token),
        ...(init.body ? { 'Content-Type': 'application/json' } : {}),
        ...(init.key ? { 'Idempotency-Key': init.key } : {}),
      },
      ...(init.body ? { body: JSON.stringify(init.body) } : {}),
    })
    return body
  }
  return withSession(attempt)
}

/** Who asks, and about which of their merchants. */
const credentialOf = (token: string) => {
  const chosen = chosenMerchant()
  return { Authorization: `Bearer ${token}`, ...(chosen === null ? {} : { [MERCHANT_HEADER]: chosen }) }
}

/** Once more with a new token when the session's has ended. */
async function withSession<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.code !== 'invalid_jwt') throw error
    await refresh()
    return attempt()
  }
}

/** Lists that come as files too. */
export type ListFile = 'orders' | 'entries' | 'attention' | 'subscriptions' | 'deliveries' | 'audit'

const file = (path: string): Promise<Blob> =>
  withSession(async () => (await respond(path, { headers: credentialOf(await accessToken()) })).blob())

const withQuery = (path: string, query: Query) => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path
}
const post = <T>(path: string, body: object = {}, key?: string) => call<T>(path, { method: 'POST', body, ...(key ? { key } : {}) })

const memberPath = (id: string, keepsKeys: boolean) => withQuery(`${ME}/members/${id}`, { keep_api_keys: keepsKeys ? 'true' : undefined })

/** The routes of the dashboard. `key` makes a repeated click the same request. */
export const api = {
  merchant: () => call<MerchantBody>(`${ME}?secrets=hidden`),
  merchantSecrets: () => call<MerchantBody>(ME),
  createMerchant: (body: object) => post<MerchantWithKeyBody>('/api/v1/merchants', body),
  updateMerchant: (body: object) => call<MerchantBody>(ME, { method: 'PATCH', body }),
  branding: () => call<BrandingBody>(`${ME}/branding`),
  updateBranding: (body: object) => call<BrandingBody>(`${ME}/branding`, { method: 'PATCH', body }),
  networks: () => call<NetworkListBody>('/api/v1/networks'),
  memberships: () => call<List<MembershipBody>>('/api/v1/merchants'),
  signPayoutAddress: (signature: string) => post<MerchantBody>(`${ME}/payout-address/sign`, { signature }),
  approvePayoutChange: (id: string) => post<MerchantBody>(`${ME}/payout-changes/${id}/approve`),
  cancelPayoutChange: (id: string) => post<MerchantBody>(`${ME}/payout-changes/${id}/cancel`),
  rotateKey: () => post<MerchantWithKeyBody>(`${ME}/rotate-key`),
  rotateSecret: () => post<MerchantBody>(`${ME}/rotate-webhook-secret`),
  activateSecret: () => post<MerchantBody>(`${ME}/activate-webhook-secret`),
  summary: (query: SummaryQuery) => call<SummaryBody>(withQuery(`${ME}/summary`, query)),
  entries: (query: Query) => call<EntryListBody>(withQuery(`${ME}/entries`, query)),
  exports: () => call<List<ExportBody>>(`${ME}/exports`),
  createExport: (body: CreateExport) => post<ExportBody>(`${ME}/exports`, body),
  exportFile: (id: string) => file(`${ME}/exports/${id}/file`),
  overview: () => call<OverviewBody>(`${ME}/overview`),
  attention: (query: Query) => call<List<AttentionItemBody>>(withQuery(`${ME}/attention`, query)),
  handleAttention: (id: string, facts: string, note: string) =>
    post<AttentionItemBody>(`${ME}/attention/${id}/handle`, { facts, ...(note === '' ? {} : { note }) }),
  attachPayment: (id: string, order_id: string, reason: string) => post<OrderBody>(`${ME}/attention/${id}/attach`, { order_id, reason }),
  reopenAttention: (id: string) => post<AttentionItemBody>(`${ME}/attention/${id}/reopen`),
  orders: (query: Query) => call<List<OrderBody>>(withQuery(`${ME}/orders`, query)),
  order: (id: string) => call<OrderBody>(`${ME}/orders/${id}`),
  updateOrder: (id: string, body: UpdateOrder) => call<OrderBody>(`${ME}/orders/${id}`, { method: 'PATCH', body }),
  eraseCustomers: (body: EraseCustomers) => post<CustomerErasureBody>(`${ME}/customers/erase`, body),
  links: (query: Query) => call<List<LinkBody>>(withQuery(`${ME}/links`, query)),
  link: (id: string) => call<LinkBody>(`${ME}/links/${id}`),
  createLink: (body: object, key: string) => post<LinkBody>(`${ME}/links`, body, key),
  endLink: (id: string) => post<LinkBody>(`${ME}/links/${id}/end`),
  createOrder: (body: object, key: string) => post<OrderBody>(`${ME}/orders`, body, key),
  acceptOrder: (id: string, reason: string) => post<OrderBody>(`${ME}/orders/${id}/accept`, { reason }),
  recover: (id: string, { token_address, chain_id, destination }: Pick<ForeignTokenBody, 'token_address' | 'chain_id' | 'destination'>) =>
    post<RecoveryBody>(`${ME}/orders/${id}/recoveries`, { token_address, chain_id, destination }),
  explainOrder: (id: string, tx_hash: string) => post<ExplanationBody>(`${ME}/orders/${id}/explain`, { tx_hash }),
  recoveries: (orderId: string) => call<RecoveryListBody>(`${ME}/orders/${orderId}/recoveries`),
  refunds: (orderId: string) => call<RefundListBody>(`${ME}/orders/${orderId}/refunds`),
  refund: (id: string) => call<RefundBody>(`${ME}/refunds/${id}`),
  createRefund: (orderId: string, body: object, key: string) => post<RefundBody>(`${ME}/orders/${orderId}/refunds`, body, key),
  createRefundClaim: (orderId: string, body: object, key: string) =>
    post<RefundClaimBody>(`${ME}/orders/${orderId}/refund-claims`, body, key),
  refundClaim: (id: string) => call<RefundClaimBody>(`${ME}/refund-claims/${id}`),
  cancelRefundClaim: (id: string) => post<RefundClaimBody>(`${ME}/refund-claims/${id}/cancel`),
  signRefund: (id: string, body: SignRefund) => post<RefundBody>(`${ME}/refunds/${id}/signature`, body),
  approveRefund: (id: string) => post<RefundBody>(`/api/v1/refunds/${id}/approve`),
  cancelRefund: (id: string) => post<RefundBody>(`${ME}/refunds/${id}/cancel`),
  cancelOrder: (id: string) => post<OrderBody>(`${ME}/orders/${id}/cancel`),
  testScenarios: () => call<TestScenarioList>('/api/v1/test/scenarios'),
  simulate: (id: string, scenario: TestScenarioName) => post<TestSimulationBody>(`/api/v1/test/orders/${id}/simulate`, { scenario }),
  testClock: () => call<TestClockBody>('/api/v1/test/clock'),
  advanceClock: (advance: string) => post<TestClockBody>('/api/v1/test/clock', { advance }),
  subscriptions: (query: Query) => call<List<SubscriptionBody>>(withQuery(`${ME}/subscriptions`, query)),
  subscription: (id: string) => call<SubscriptionBody>(`${ME}/subscriptions/${id}`),
  createSubscription: (body: object, key: string) => post<SubscriptionBody>(`${ME}/subscriptions`, body, key),
  updateSubscription: (id: string, body: UpdateSubscription) =>
    call<SubscriptionBody>(`${ME}/subscriptions/${id}`, { method: 'PATCH', body }),
  charge: (id: string, key: string) => post<OrderBody | PendingChargeBody>(`${ME}/subscriptions/${id}/charge`, {}, key),
  acceptCharge: (id: string, period: number) => post<SubscriptionBody>(`${ME}/subscriptions/${id}/charges/${period}/accept`),
  cancelSubscription: (id: string) => post<SubscriptionBody>(`${ME}/subscriptions/${id}/cancel`),
  events: (query: Query) => call<List<EventBody>>(withQuery(`${ME}/events`, query)),
  deliveries: (query: Query) => call<List<DeliveryBody>>(withQuery(`${ME}/deliveries`, query)),
  delivery: (id: string) => call<DeliveryDetailBody>(`${ME}/deliveries/${id}`),
  replay: (id: string) => post<DeliveryBody>(`${ME}/deliveries/${id}/replay`),
  endpoints: () => call<List<WebhookEndpointBody>>(`${ME}/webhook-endpoints`),
  createEndpoint: (body: object) => post<WebhookEndpointBody>(`${ME}/webhook-endpoints`, body),
  updateEndpoint: (id: string, body: object) => call<WebhookEndpointBody>(`${ME}/webhook-endpoints/${id}`, { method: 'PATCH', body }),
  removeEndpoint: (id: string) => call<DeletedEndpointBody>(`${ME}/webhook-endpoints/${id}`, { method: 'DELETE' }),
  rotateEndpointSecret: (id: string) => post<WebhookEndpointBody>(`${ME}/webhook-endpoints/${id}/rotate-secret`),
  activateEndpointSecret: (id: string) => post<WebhookEndpointBody>(`${ME}/webhook-endpoints/${id}/activate-secret`),
  endpoint: (id: string) => call<WebhookEndpointBody>(`${ME}/webhook-endpoints/${id}`),
  testEndpoint: (id: string) => post<DeliveryBody>(`${ME}/webhook-endpoints/${id}/test`),
  sessions: () => call<List<SessionBody>>('/api/v1/sessions'),
  endSession: (id: string) => call<object>(`/api/v1/sessions/${id}`, { method: 'DELETE' }),
  endOtherSessions: () => post<EndedSessionsBody>('/api/v1/sessions/end-others'),
  waitingChanges: () => call<List<WaitingChangeBody>>('/api/v1/waiting-changes'),
  confirmWaitingChange: (id: string) => post<WaitingChangeBody>(`/api/v1/waiting-changes/${id}/confirm`),
  cancelWaitingChange: (id: string) => post<WaitingChangeBody>(`/api/v1/waiting-changes/${id}/cancel`),
  members: () => call<List<MemberBody>>(`${ME}/members`),
  updateMember: (id: string, body: object, keepsKeys: boolean) => call<MemberBody>(memberPath(id, keepsKeys), { method: 'PATCH', body }),
  removeMember: (id: string, keepsKeys: boolean) => call<object>(memberPath(id, keepsKeys), { method: 'DELETE' }),
  invitations: () => call<List<InvitationBody>>(`${ME}/invitations`),
  invite: (body: object) => post<InvitationBody & { token: string }>(`${ME}/invitations`, body),
  revokeInvitation: (id: string) => call<InvitationBody>(`${ME}/invitations/${id}`, { method: 'DELETE' }),
  acceptInvitation: (token: string) => post<MembershipBody>('/api/v1/invitations/accept', { token }),
  keys: () => call<List<NamedKeyBody>>(`${ME}/api-keys`),
  createKey: (body: object) => post<NamedKeyBody & { api_key: string }>(`${ME}/api-keys`, body),
  revokeKey: (id: string) => call<NamedKeyBody>(`${ME}/api-keys/${id}`, { method: 'DELETE' }),
  file: (list: ListFile, query: Query) => file(withQuery(`${ME}/${list}.csv`, query)),
  audit: (query: Query) => call<List<AuditEntryBody>>(withQuery(`${ME}/audit`, query)),
  mail: () => call<MailPreferencesBody>(`${ME}/mail`),
  updateMail: (body: object) => call<MailPreferencesBody>(`${ME}/mail`, { method: 'PATCH', body }),
  replayRange: (body: ReplayDeliveries) => post<ReplayedBody>(`${ME}/deliveries/replay`, body),
}
