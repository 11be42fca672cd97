import type {
  AcceptInvitation,
  AuthorizePayment,
  CreateApiKey,
  CreateEndpoint,
  CreateInvitation,
  CreateMerchant,
  CreateOrder,
  CreateSubscription,
  HandleAttention,
  ReplayDeliveries,
  SignPayoutChange,
  UpdateBranding,
  UpdateEndpoint,
  UpdateMailPreferences,
  UpdateMember,
  UpdateMerchant,
  UpdateSubscription,
} from '@ponte/contracts'
import type { JsonSchema, RequestName } from './schemas'

interface RequestBodies extends Record<RequestName, object> {
  CreateOrder: CreateOrder
  CreateSubscription: CreateSubscription
  UpdateSubscription: UpdateSubscription
  CreateMerchant: CreateMerchant
  UpdateMerchant: UpdateMerchant
  UpdateBranding: UpdateBranding
  SignPayoutChange: SignPayoutChange
  CreateApiKey: CreateApiKey
  CreateInvitation: CreateInvitation
  AcceptInvitation: AcceptInvitation
  UpdateMember: UpdateMember
  UpdateMailPreferences: UpdateMailPreferences
  ReplayDeliveries: ReplayDeliveries
  AuthorizePayment: AuthorizePayment
  HandleAttention: HandleAttention
  CreateWebhookEndpoint: CreateEndpoint
  UpdateWebhookEndpoint: UpdateEndpoint
}

/** What a caller would send: some fields exclude each other, so these are written by hand. A test sends them through their schemas. */
export const requestExamples: RequestBodies = {
  CreateOrder: {
    ...{ brl_amount: '150.00', external_ref: 'INV-7', description: 'Consulting, November', metadata: { customer: '42' }, expires_in: 1800 },
  },
  CreateSubscription: {
    ...{ brl_amount: '49.90', interval: 'month', interval_count: 1, max_periods: 12, timezone: 'America/Sao_Paulo' },
    ...{ external_ref: 'PLAN-42', description: 'Monthly plan' },
  },
  UpdateSubscription: { brl_amount: '59.90', max_periods: 24 },
  CreateMerchant: {
    display_name: 'Padaria Estrela',
    webhook_url: 'https://example.com/webhooks',
    payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  UpdateMerchant: { webhook_url: 'https://example.com/new-webhooks' },
  HandleAttention: { facts: 'c0ffee00c0ffee00' },
  CreateApiKey: { name: 'ERP', scopes: ['orders:read', 'deliveries:write'], expires_at: '2027-11-20T12:00:00.000Z' },
  CreateInvitation: { email: 'ana@example.com', role: 'finance' },
  AcceptInvitation: { token: `inv_${'0123456789abcdef'.repeat(4)}` },
  UpdateMember: { role: 'viewer' },
  UpdateMailPreferences: { language: 'pt', topics: ['account', 'attention'] },
  UpdateBranding: { color: '#0e6b54', contact_email: 'ola@padaria.example', terms_url: 'https://padaria.example/terms' },
  SignPayoutChange: { signature: `0x${'1b'.repeat(65)}` },
  ReplayDeliveries: { created_gte: '2026-11-20T00:00:00.000Z', created_lt: '2026-11-21T00:00:00.000Z', scope: 'undelivered' },
  AuthorizePayment: {
    ...{ payer_address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906', amount: '27.675277', valid_after: 0, valid_before: 1_795_000_000 },
    ...{ salt: `0x${27_675_277n.toString(16).padStart(64, '0')}`, signature: `0x${'1b'.repeat(65)}` },
  },
  CreateWebhookEndpoint: { url: 'https://erp.example.com/ponte', events: ['order.paid', 'order.settled'], format: 'standard' },
  UpdateWebhookEndpoint: { paused: true },
}

/** An example of an answer, made of the examples of its parts; what may be null is null. */
export function exampleOf(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants)) return variants.some(({ type }) => type === 'null') ? null : exampleOf(variants[0] ?? {}, schemas)
  return exampleOfType(schema, schemas)
}

function exampleOfType(schema: JsonSchema, schemas: Record<string, JsonSchema>): unknown {
  if (schema.type === 'object') {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(property, schemas)]))
  }
  if (schema.type === 'array') return [exampleOf((schema.items ?? {}) as JsonSchema, schemas)]
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, Number(schema.minimum ?? 1))
  if (schema.type === 'boolean') return false
  return schema.type === 'string' ? 'text' : null
}
