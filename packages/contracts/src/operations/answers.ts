import { z } from 'zod'
import { namedKey, namedKeyWithSecret } from '../api/account/access'
import { auditEntry } from '../api/account/audit'
import { mailPreferences } from '../api/account/mail'
import { deletedMember, invitation, invitationWithToken, member, membership, updatedMember } from '../api/account/member'
import { endedSession, endedSessions, session } from '../api/account/session'
import { waitingChange } from '../api/account/waiting-change'
import { attentionItem, attentionList } from '../api/attention'
import { paymentAuthorization } from '../api/authorization'
import { branding } from '../api/branding'
import { checkpointList } from '../api/checkpoint'
import { customerErasure } from '../api/customer'
import { delivery, deliveryDetail, deliveryOverview, replayed } from '../api/delivery'
import { dossierKeys } from '../api/dossier'
import { entryList } from '../api/entry'
import { eventBody, eventList } from '../api/event'
import { explanation } from '../api/explanation'
import { exportList, ledgerExport } from '../api/export'
import { link, linkList, payerLink } from '../api/link'
import { listOf, searchedListOf } from '../api/list'
import { merchant, merchantWithKey, merchantWithNewKey } from '../api/merchant'
import { networkList } from '../api/network'
import { checkout, order, payment } from '../api/order'
import { orderList } from '../api/order-list'
import { overview } from '../api/overview'
import { recovery, recoveryList } from '../api/recovery'
import { payerRefund, refund, refundClaim, refundList } from '../api/refund'
import { payerSubscription } from '../api/subscription/payer-subscription'
import { pendingCharge, subscription } from '../api/subscription/subscription'
import { summary } from '../api/summary'
import { testClock, testFunding, testPayments, testScenarioList, testSimulation } from '../api/testing'
import { deletedEndpoint, webhookEndpoint } from '../api/webhook-endpoint'
import { errorTable } from '../errors'

const ping = z.object({ message: z.string().meta({ description: 'States that the service is online', example: 'Ponte is online' }) })

const problem = z
  .object({
    type: z.string().meta({ description: 'A page that explains the code', example: '/docs/errors#not_found' }),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(errorTable) as [string, ...string[]]),
    detail: z.string().meta({ description: 'One sentence: what to do' }),
    request_id: z.string().meta({ description: 'Quote it when you ask us' }),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Only of `invalid_request`: each field at fault' }),
    resume_after: z.string().optional().meta({ description: 'Only of `events_reset`: the cursor to go on with' }),
  })
  .meta({ description: 'RFC 9457 problem details' })

/** Answers under the names that the document has for them. A body is called as its operation. */
export const answers = {
  Ping: ping,
  Problem: problem,
  Order: order,
  OrderList: orderList,
  Link: link,
  LinkList: linkList,
  PayerLink: payerLink,
  AttentionItem: attentionItem,
  AttentionList: attentionList,
  EntryList: entryList,
  CustomerErasure: customerErasure,
  Export: ledgerExport,
  ExportList: exportList,
  DossierKeys: dossierKeys,
  NetworkList: networkList,
  Payment: payment,
  Refund: refund,
  RefundClaim: refundClaim,
  RefundList: refundList,
  PayerRefund: payerRefund,
  Recovery: recovery,
  TestClock: testClock,
  TestFunding: testFunding,
  TestPayments: testPayments,
  TestScenarioList: testScenarioList,
  TestSimulation: testSimulation,
  RecoveryList: recoveryList,
  CheckpointList: checkpointList,
  Explanation: explanation,
  Checkout: checkout,
  PaymentAuthorization: paymentAuthorization,
  Subscription: subscription,
  SubscriptionList: searchedListOf(subscription),
  PendingCharge: pendingCharge,
  PayerSubscription: payerSubscription,
  Event: eventBody,
  EventList: eventList,
  Delivery: delivery,
  DeliveryDetail: deliveryDetail,
  DeliveryList: searchedListOf(delivery),
  DeliveryOverview: deliveryOverview,
  Replayed: replayed,
  WebhookEndpoint: webhookEndpoint,
  WebhookEndpointList: listOf(webhookEndpoint),
  DeletedWebhookEndpoint: deletedEndpoint,
  Merchant: merchant,
  Branding: branding,
  MerchantWithKey: merchantWithKey,
  MerchantWithNewKey: merchantWithNewKey,
  Membership: membership,
  MembershipList: listOf(membership),
  Member: member,
  MemberList: listOf(member),
  MailPreferences: mailPreferences,
  UpdatedMember: updatedMember,
  DeletedMember: deletedMember,
  WaitingChange: waitingChange,
  WaitingChangeList: listOf(waitingChange),
  Session: session,
  SessionList: listOf(session),
  EndedSession: endedSession,
  EndedSessions: endedSessions,
  Invitation: invitation,
  InvitationList: listOf(invitation),
  InvitationWithToken: invitationWithToken,
  ApiKey: namedKey,
  ApiKeyList: listOf(namedKey),
  ApiKeyWithSecret: namedKeyWithSecret,
  AuditEntry: auditEntry,
  AuditEntryList: listOf(auditEntry),
  Overview: overview,
  Summary: summary,
} as const satisfies Record<string, z.ZodType>
export type AnswerName = keyof typeof answers
