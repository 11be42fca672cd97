import {
  ApiError,
  type ErrorCode,
  EXPORT_TYPES,
  errorTable,
  isKeyed,
  namesIn,
  type Operation,
  operationList,
  type Place,
  placesOf,
  SPECIFIED_EVENTS,
  toProblem,
} from '@ponte/contracts'
import { exampleOf } from './example'
import { guardOf } from './guard'
import { headers } from './headers'
import { namedParameters } from './named-parameters'
import { QUERY } from './query-descriptions'
import { componentSchemas, type JsonSchema, refTo, requestName, toJsonSchema, webhookSchemaName, webhooks } from './schemas'

export interface DocumentOptions {
  /** Where the API is; relative to the document when unknown. */
  publicUrl?: string | undefined
}

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })
const LIMITED = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']

/** The OpenAPI 3.1 document of the public API, made of the schemas that judge the requests themselves. */
export function openApiDocument({ publicUrl }: DocumentOptions) {
  const schemas = componentSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [id, operation] of operationList) {
    for (const place of operation.credentials.includes('internal') ? [] : placesOf(operation)) {
      const path = place.path.replace(/:(\w+)/g, '{$1}')
      paths[path] = { ...paths[path], [operation.method]: operationObject(id, operation, place, schemas) }
    }
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
  'A key may do what its scopes name; `security` of each operation names those it needs. The API key that a merchant was created with has those of orders, subscriptions and events.',
  'A method that a path does not have is 405 `method_not_allowed`, with `Allow`.',
].join('\n\n')

const tags: readonly (readonly [string, string])[] = [
  ['Orders', 'One-shot invoices.'],
  ['Links', 'Pages on which payers open orders, quoted at that moment.'],
  ['Refunds', 'Money that goes back from your wallet.'],
  ['Subscriptions', 'Recurring charges that produce orders.'],
  ['Events', 'What webhooks send, to be pulled instead.'],
  ['Members', 'Who belongs to your merchant, and as what.'],
  ['Sessions', 'Where your login is in use.'],
  ['Keys', 'Named API keys, each with its own scopes.'],
  ['Merchant', 'The merchant of the user who is logged in.'],
  ['Endpoints', 'Where else than at your `webhook_url` you are notified.'],
  ['Dashboard', 'What the dashboard shows to that user.'],
  ['Checkout', 'What a payer with a link may read.'],
  ['Chain', 'What was booked of the chain, for anyone who wants to check it.'],
  ['Tests', 'Payers, networks and time, of deployments for tests alone: where money is real these paths are not there.'],
  ['Liveness', 'Whether the service is there.'],
  ['Webhooks', 'What the service sends to your `webhook_url` and to your endpoints.'],
]

const codes = Object.keys(errorTable) as ErrorCode[]
/** `method_not_allowed` belongs to no operation: it is the answer where there is none. */
const ofOperations = codes.filter(code => code !== 'method_not_allowed')

/** Names are those that clients were generated with. */
function nameOf(id: string, { alias }: Operation, { isAlias }: Place): string {
  if (isAlias) return alias ?? id
  return alias === id ? `${id}OfKey` : id
}

function operationObject(id: string, operation: Operation, place: Place, schemas: Record<string, JsonSchema>) {
  const { tag, summary, description, permission, also = [], body, example } = operation
  const needed = [...(permission === null ? [] : [permission]), ...also]
  const security = place.credentials.flatMap((credential): object[] =>
    credential === 'api_key' ? [{ apiKey: needed }] : credential === 'session' ? [{ session: needed }] : [],
  )
  const parameters = parametersOf(operation, place)
  return {
    operationId: nameOf(id, operation, place),
    tags: [place.isAlias ? 'Dashboard' : tag],
    summary,
    ...(description ? { description } : {}),
    ...guardOf(operation, place),
    security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: refTo(requestName(id)), example } } } } : {}),
    responses: responsesOf(operation, place, schemas),
  }
}

const media = (name: string, schemas: Record<string, JsonSchema>) => ({ schema: refTo(name), example: exampleOf(refTo(name), schemas) })

const pathParameter = (name: string) =>
  name === 'period_index'
    ? { schema: { type: 'integer', minimum: 0, maximum: 999_999_999 }, example: 0 }
    : { schema: { type: 'string', format: 'uuid' }, example: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90' }

function parametersOf(operation: Operation, { credentials }: Place): unknown[] {
  const inPath = namesIn(operation.path).map(name => ({ name, in: 'path', required: true, ...pathParameter(name) }))
  const query = operation.query ? toJsonSchema(operation.query) : {}
  const inQuery = Object.entries((query.properties ?? {}) as Record<string, JsonSchema>).map(([name, schema]) => ({
    ...{ name, in: 'query', required: schema.default === undefined && ((query.required ?? []) as string[]).includes(name) },
    ...(QUERY[name] ? { description: QUERY[name] } : {}),
    schema: name === 'limit' ? { type: 'integer', minimum: 1, maximum: 100, default: 20 } : schema,
  }))
  const merchant =
    credentials.includes('session') && operation.permission !== null ? [{ $ref: '#/components/parameters/PonteMerchant' }] : []
  return [...inPath, ...inQuery, ...merchant, ...(isKeyed(operation) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [])]
}

function responsesOf(operation: Operation, place: Place, schemas: Record<string, JsonSchema>): Record<string, unknown> {
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
  const refused = [...byStatus(errorsOf(operation, place))].map(([status, group]) => [
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
  if (name === 'file') {
    const types = Object.values(EXPORT_TYPES).map(type => type.split(';')[0] as string)
    return Object.fromEntries(
      types.map(type => [type, { schema: type === 'application/json' ? { type: 'object' } : { type: 'string', format: 'binary' } }]),
    )
  }
  if (name === 'csv') return { 'text/csv': { schema: { type: 'string' }, example: 'id,created_at,paid_at,status\r\n' } }
  const json = media(name, schemas)
  return name === 'Ping' ? { 'application/vnd.api+json': json, 'application/json': json } : { 'application/json': json }
}

function errorsOf({ method, permission, login, whileFrozen, errors = [] }: Operation, { credentials }: Place): ErrorCode[] {
  const [byKey, bySession] = [credentials.includes('api_key'), credentials.includes('session')]
  const found = new Set<ErrorCode>([
    // An unknown query parameter is refused everywhere.
    'invalid_request',
    ...(method === 'get' ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
    ...(byKey || bySession ? (['missing_authorization'] as const) : []),
    ...(byKey ? (['invalid_api_key'] as const) : []),
    ...(bySession ? (['invalid_jwt'] as const) : []),
    // A key may lack the scope, a member the role, and a user the merchant.
    ...(permission === null ? [] : (['forbidden'] as const)),
    ...(permission === null || !bySession ? [] : (['not_found'] as const)),
    ...(byKey && method === 'post' ? (['idempotency_in_progress', 'idempotency_mismatch'] as const) : []),
    ...(login !== undefined && bySession ? (['fresh_login_required', 'second_factor_required'] as const) : []),
    ...(whileFrozen === 'refused' ? (['invalid_state'] as const) : []),
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
