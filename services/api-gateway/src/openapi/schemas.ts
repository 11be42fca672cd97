import {
  acceptInvitation,
  attentionItem,
  attentionList,
  auditEntry,
  authorizePayment,
  branding,
  checkout,
  createApiKey,
  createEndpoint,
  createInvitation,
  createMerchant,
  createOrder,
  createSubscription,
  deletedEndpoint,
  deletedMember,
  delivery,
  deliveryDetail,
  deliveryOverview,
  errorTable,
  eventBody,
  eventList,
  handleAttention,
  invitation,
  invitationWithToken,
  listOf,
  mailPreferences,
  member,
  membership,
  merchant,
  merchantWithKey,
  namedKey,
  namedKeyWithSecret,
  order,
  orderList,
  overview,
  payerSubscription,
  payment,
  paymentAuthorization,
  pendingCharge,
  replayDeliveries,
  replayed,
  searchedListOf,
  signPayoutChange,
  subscription,
  summary,
  updateBranding,
  updatedMember,
  updateEndpoint,
  updateMailPreferences,
  updateMember,
  updateMerchant,
  updateSubscription,
  webhookBodies,
  webhookEndpoint,
} from '@ponte/contracts'
import { z } from 'zod'

export type JsonSchema = Record<string, unknown>

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
  })
  .meta({ description: 'RFC 9457 problem details' })

/** What callers send. A schema is named in one of the two lists only. */
export const requests = {
  CreateOrder: createOrder,
  CreateSubscription: createSubscription,
  UpdateSubscription: updateSubscription,
  CreateMerchant: createMerchant,
  UpdateMerchant: updateMerchant,
  UpdateBranding: updateBranding,
  SignPayoutChange: signPayoutChange,
  CreateApiKey: createApiKey,
  CreateInvitation: createInvitation,
  UpdateMailPreferences: updateMailPreferences,
  AcceptInvitation: acceptInvitation,
  UpdateMember: updateMember,
  ReplayDeliveries: replayDeliveries,
  AuthorizePayment: authorizePayment,
  HandleAttention: handleAttention,
  CreateWebhookEndpoint: createEndpoint,
  UpdateWebhookEndpoint: updateEndpoint,
} as const satisfies Record<string, z.ZodType>

/** What we answer. */
export const answers = {
  Ping: ping,
  Problem: problem,
  Order: order,
  OrderList: orderList,
  AttentionItem: attentionItem,
  AttentionList: attentionList,
  Payment: payment,
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
  Membership: membership,
  MembershipList: listOf(membership),
  Member: member,
  MemberList: listOf(member),
  MailPreferences: mailPreferences,
  UpdatedMember: updatedMember,
  DeletedMember: deletedMember,
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

export type RequestName = keyof typeof requests
export type AnswerName = keyof typeof answers

export const webhooks: Readonly<Record<string, z.ZodType>> = webhookBodies

/** `order.paid` to `OrderPaidWebhook`. */
export const webhookSchemaName = (type: string) =>
  `${type
    .split(/[._]/)
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Webhook`

export const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** All named schemas as OpenAPI 3.1 takes them: JSON Schema 2020-12, naming each other. */
export function componentSchemas(): Record<string, JsonSchema> {
  const webhookBodies = Object.fromEntries(Object.entries(webhooks).map(([type, schema]) => [webhookSchemaName(type), schema]))
  return { ...convertAll(requests, 'input'), ...convertAll({ ...answers, ...webhookBodies }, 'output') }
}

/** One schema by itself, for a parameter. */
export const toJsonSchema = (schema: z.ZodType): JsonSchema => tidy(z.toJSONSchema(schema, { io: 'input' }))

function convertAll(schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id })
  const converted = z.toJSONSchema(registry, { io, uri: id => refTo(id).$ref })
  return Object.fromEntries(Object.entries(converted.schemas).map(([name, schema]) => [name, tidy(schema)]))
}

/** Leaves out what carries no meaning for a reader: the dialect, the bounds of a double, and patterns that repeat a format. */
function tidy(value: unknown): JsonSchema {
  return tidied(value) as JsonSchema
}

function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== 'object' || value === null) return value
  const { $schema, $id, id, example, ...schema } = value as JsonSchema
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (typeof schema.format === 'string') delete schema.pattern
  // `id` is a name for the registry at a schema's top, and a property's name inside `properties`.
  const kept = typeof id === 'object' ? { id, ...schema } : schema
  return {
    ...Object.fromEntries(
      Object.entries(kept).map(([key, inner]) => [key, key === 'example' || key === 'default' ? inner : tidied(inner)]),
    ),
    ...(example === undefined
      ? {}
      : typeof example === 'object' && 'type' in Object(example)
        ? { example: tidied(example) }
        : { examples: [example] }),
  }
}
