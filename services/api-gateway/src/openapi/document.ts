import { ApiError, type ErrorCode, errorTable, SPECIFIED_EVENTS, toProblem } from '@ponte/contracts'
import { exampleOf, requestExamples } from './example'
import { namedParameters } from './named-parameters'
import { type Operation, operations } from './operations'
import { QUERY } from './query-descriptions'
import { componentSchemas, type JsonSchema, refTo, toJsonSchema, webhookSchemaName, webhooks } from './schemas'

export interface DocumentOptions {
  /** Where the API is; relative to the document when unknown. */
  publicUrl?: string | undefined
}

/** The day on which the interface last gained something; answers name it in `Ponte-Version`. */
export const INTERFACE_VERSION = '2026-11-22'

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })
const LIMITED = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']

/** The OpenAPI 3.1 document of the public API, made of the schemas that judge the requests themselves. */
export function openApiDocument({ publicUrl }: DocumentOptions) {
  const schemas = componentSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method]: operationObject(operation, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ponte',
      version: '1.0',
      summary: 'Invoice in reais, be paid in USDC, learn of it by a signed webhook.',
      description: introduction,
      license: { name: 'Proprietary', url: `${publicUrl ?? ''}/docs` },
    },
    servers: [{ url: publicUrl ?? '/' }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(Object.keys(webhooks).map(type => [type, webhookObject(type, schemas)])),
    components: {
      schemas,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'The API key: `sk_live_` and 64 hex characters. Server-side only.' },
        session: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The `access_token` of a login at the identity provider.',
        },
      },
      parameters: namedParameters,
      headers: headers(),
      examples: Object.fromEntries(ofOperations.map(code => [code, { summary: errorTable[code].title, value: problemExample(code) }])),
    },
  }
}
export type OpenApiDocument = ReturnType<typeof openApiDocument>

const introduction = [
  'A merchant creates orders and subscriptions in BRL with an API key; a payer settles them in USDC; the merchant is notified of it by webhook.',
  'Amounts are decimal strings. Timestamps are ISO 8601 UTC. Lists are newest first; page with `starting_after` or `ending_before`, not both.',
  'Fields and query parameters that are not documented are refused. Errors are RFC 9457 problem details; each `code` is explained at `/docs/errors`.',
  'A key may do what its scopes name; `security` of each operation names the one it needs. The API key that a merchant was created with has those of orders, subscriptions and events.',
  'A method that a path does not have is 405 `method_not_allowed`, with `Allow`.',
].join('\n\n')

const tags: readonly (readonly [string, string])[] = [
  ['Orders', 'One-shot invoices.'],
  ['Subscriptions', 'Recurring charges that produce orders.'],
  ['Events', 'What webhooks send, to be pulled instead.'],
  ['Members', 'Who belongs to your merchant, and as what.'],
  ['Keys', 'Named API keys, each with its own scopes.'],
  ['Merchant', 'The merchant of the user who is logged in.'],
  ['Endpoints', 'Where else than at your `webhook_url` you are notified.'],
  ['Dashboard', 'What the dashboard shows to that user.'],
  ['Checkout', 'What a payer with a link may read.'],
  ['Liveness', 'Whether the service is there.'],
  ['Webhooks', 'What the service sends to your `webhook_url` and to your endpoints.'],
]

const codes = Object.keys(errorTable) as ErrorCode[]
/** `method_not_allowed` belongs to no operation: it is the answer where there is none. */
const ofOperations = codes.filter(code => code !== 'method_not_allowed')

function headers(): Record<string, unknown> {
  const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example })
  const whole = (description: string, example: number) => ({ description, schema: { type: 'integer' }, example })
  return {
    'X-Request-Id': text('Names this request; yours, when you sent a well-formed one', '0f3c2b1a-7d51-4f5b-9f0a-3f0f5a1f7f11'),
    'Ponte-Version': text('The day of the interface that answers', INTERFACE_VERSION),
    'Idempotency-Replayed': {
      description: 'The answer is that of the first request with this key',
      schema: { type: 'string', enum: ['true'] },
    },
    Location: text('Path of what was created', '/api/v1/orders/01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'),
    'Retry-After': whole('Seconds to wait before trying again', 2),
    'RateLimit-Limit': whole('Requests allowed in a window', 6000),
    'RateLimit-Remaining': whole('Requests left in it', 5999),
    'RateLimit-Reset': whole('Seconds until it ends', 42),
    'RateLimit-Policy': text('Limit and window', '6000;w=60'),
  }
}

function operationObject(operation: Operation, schemas: Record<string, JsonSchema>) {
  const { id, tag, summary, description, credential, permission, body } = operation
  const needed = permission === null ? [] : [permission]
  const security = { api_key: [{ apiKey: needed }], session: [{ session: needed }], none: [] }[credential]
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description ? { description } : {}),
    security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: refTo(body), example: requestExamples[body] } } } }
      : {}),
    responses: responsesOf(operation, schemas),
  }
}

const media = (name: string, schemas: Record<string, JsonSchema>) => ({ schema: refTo(name), example: exampleOf(refTo(name), schemas) })
const isKeyed = ({ keyed, errors }: Operation) => keyed === true || errors?.includes('idempotency_mismatch') === true

const pathParameter = (name?: string) =>
  name === 'period_index'
    ? { schema: { type: 'integer', minimum: 0, maximum: 999_999_999 }, example: 0 }
    : { schema: { type: 'string', format: 'uuid' }, example: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90' }

function parametersOf(operation: Operation): unknown[] {
  const inPath = [...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, ...pathParameter(name) }))
  const query = operation.query ? toJsonSchema(operation.query) : {}
  const inQuery = Object.entries((query.properties ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => ({
    ...{ name, in: 'query', required: schema.default === undefined && ((query.required ?? []) as string[]).includes(name) },
    ...(QUERY[name] ? { description: QUERY[name] } : {}),
    schema: name === 'limit' ? { type: 'integer', minimum: 1, maximum: 100, default: 20 } : schema,
  }))
  const merchant =
    operation.credential === 'session' && operation.permission !== null ? [{ $ref: '#/components/parameters/PonteMerchant' }] : []
  return [...inPath, ...inQuery, ...merchant, ...(isKeyed(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [])]
}

function responsesOf(operation: Operation, schemas: Record<string, JsonSchema>): Record<string, unknown> {
  const limits = Object.fromEntries(LIMITED.map(name => [name, header(name)]))
  const version = operation.path.startsWith('/api/') ? { 'Ponte-Version': header('Ponte-Version') } : {}
  const common = { 'X-Request-Id': header('X-Request-Id'), ...version, ...limits }
  const good = Object.entries(operation.answers).map(([status, name]) => [
    status,
    {
      description: SUCCESS[status] ?? 'Done',
      headers: {
        ...common,
        ...(status === '201' ? { Location: header('Location') } : {}),
        ...(isKeyed(operation) ? { 'Idempotency-Replayed': header('Idempotency-Replayed') } : {}),
      },
      content: contentOf(name, schemas),
    },
  ])
  const refused = [...byStatus(errorsOf(operation))].map(([status, group]) => [
    String(status),
    {
      description: group.map(code => errorTable[code].title).join('; '),
      headers: { ...common, ...(status === 429 || status === 503 ? { 'Retry-After': header('Retry-After') } : {}) },
      content: {
        'application/problem+json': {
          schema: refTo('Problem'),
          examples: Object.fromEntries(group.map(code => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    },
  ])
  return Object.fromEntries([...good, ...refused])
}

const SUCCESS: Record<string, string> = { 200: 'Done', 201: 'Created', 202: 'Accepted' }

function contentOf(name: string, schemas: Record<string, JsonSchema>): Record<string, unknown> {
  if (name === 'stream') {
    return {
      'text/event-stream': { schema: { type: 'string' }, example: 'event: checkout\ndata: {"object":"checkout","status":"paid"}\n\n' },
    }
  }
  if (name === 'csv') return { 'text/csv': { schema: { type: 'string' }, example: 'id,created_at,paid_at,status\r\n' } }
  const json = media(name, schemas)
  return name === 'Ping' ? { 'application/vnd.api+json': json, 'application/json': json } : { 'application/json': json }
}

function errorsOf(operation: Operation): ErrorCode[] {
  const { method, credential, errors = [] } = operation
  const byCredential: ErrorCode[] = { api_key: ['invalid_api_key'] as const, session: ['invalid_jwt'] as const, none: [] as const }[
    credential
  ].slice()
  const withCredential: ErrorCode[] = credential === 'none' ? [] : ['missing_authorization', ...byCredential]
  const writes: ErrorCode[] = method === 'get' ? [] : ['payload_too_large', 'unsupported_media_type']
  const found = new Set<ErrorCode>([
    // An unknown query parameter is refused everywhere.
    'invalid_request',
    ...writes,
    ...withCredential,
    ...errors,
    'request_timeout',
    'headers_too_large',
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ])
  return codes.filter(code => found.has(code))
}

function byStatus(found: ErrorCode[]): Map<number, ErrorCode[]> {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of found) groups.set(errorTable[code].status, [...(groups.get(errorTable[code].status) ?? []), code])
  return groups
}

function problemExample(code: ErrorCode): unknown {
  const errors = code === 'invalid_request' ? { errors: [{ path: 'brl_amount', message: 'must be above zero' }] } : {}
  return toProblem(new ApiError(code, `${errorTable[code].title}.`, errors), '0f3c2b1a-7d51-4f5b-9f0a-3f0f5a1f7f11')
}

function webhookObject(type: string, schemas: Record<string, JsonSchema>) {
  const name = webhookSchemaName(type)
  return {
    post: {
      operationId: name.charAt(0).toLowerCase() + name.slice(1),
      tags: ['Webhooks'],
      summary: `Sent as ${type}`,
      description: `${SPECIFIED_EVENTS.some(specified => specified === type) ? '' : 'Never to your `webhook_url`, only to endpoints. '}At least once, in no promised order; any answer but 2xx within 15 seconds is tried again after 1 min, 5 min, 30 min, 2 h, 12 h and 24 h.`,
      security: [],
      parameters: [
        {
          ...{ name: 'X-Service-Signature', in: 'header', required: true },
          description:
            'Lower-case hex HMAC-SHA256 of the raw body, keyed with your `webhook_secret`. Compare in constant time, before parsing.',
          schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
          example: '9f'.repeat(32),
        },
      ],
      requestBody: { required: true, content: { 'application/json': media(name, schemas) } },
      responses: { '2XX': { description: 'Taken' }, '401': { description: 'The signature is not valid' } },
    },
  }
}
