import type { OpenApiDocument } from '../openapi/document'
import type { JsonSchema } from '../openapi/schemas'
import { page } from './page'
import { anchor, escapeHtml, inlineHtml, typeOf } from './page-text'

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: JsonSchema
}

interface Described {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, unknown>[]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { schema?: { $ref?: string }; example?: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { example?: unknown; examples?: Record<string, unknown> }> }>
}

type Titled = Described & { title: string }

/** The interface by its resources: `/docs` names each operation and webhook, and a page for each resource describes its own. */
export function apiPages(document: OpenApiDocument): readonly (readonly [path: string, html: string])[] {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, ...(operation as Described) })),
  )
  const webhookOperations = Object.entries(document.webhooks).map(([type, { post }]) => ({ title: type, ...(post as Described) }))
  const all: Titled[] = [...routes, ...webhookOperations]
  const resources = document.tags.map(({ name, description }) => ({
    ...{ name, description, path: `/docs/api/${anchor(name)}` },
    own: all.filter(({ tags }) => tags.includes(name)),
  }))
  const lists = resources.map(({ name, description, path, own }) => {
    const items = own.map(({ operationId, title, summary }) => {
      const id = anchor(operationId)
      return `<li id="${id}"><a href="${path}#${id}"><code>${escapeHtml(title)}</code></a> ${inlineHtml(summary)}</li>`
    })
    return `<section><h2 id="${anchor(name)}"><a href="${path}">${escapeHtml(name)}</a></h2><p>${escapeHtml(description)}</p><ul class="operations">${items.join('')}</ul></section>`
  })
  const introduction = document.info.description.split('\n\n').map(paragraph => `<p>${inlineHtml(paragraph)}</p>`)
  const links = resources.map(({ name }) => `<a href="#${anchor(name)}">${escapeHtml(name)}</a>`)
  const index = page(
    `${document.info.title} API`,
    `<header><h1>${escapeHtml(document.info.title)} API</h1><p>${escapeHtml(document.info.summary)}</p>${introduction.join('')}
    <nav aria-label="Parts of the API">${[...links, '<a href="#credentials">Credentials</a>', '<a href="/openapi.json">openapi.json</a>'].join('')}</nav></header>${credentials}${lists.join('')}`,
  )
  return [
    ['/docs', index],
    ...resources.map(({ name, description, path, own }) => {
      const operations = own.map(operation => operationHtml(operation, document))
      const here = own.map(({ operationId, title }) => `<a href="#${anchor(operationId)}"><code>${escapeHtml(title)}</code></a>`)
      const body = `<header><h1>${escapeHtml(name)}</h1><p>${escapeHtml(description)}</p><nav aria-label="On this page">${here.join('')}</nav></header>${operations.join('')}`
      return [path, page(`${name}: ${document.info.title} API`, body)] as const
    }),
  ]
}

/** Repeated in the document in several places, printed once. */
const credentials = `<section><h2 id="credentials">Credentials</h2>
<p>Servers send the API key, people's sessions the token of a login; both as a bearer token.</p>
<pre tabindex="0">Authorization: Bearer sk_live_…</pre>
<p>Log in at the identity provider; <code>access_token</code> of its answer is the session token.</p>
<pre tabindex="0">POST {auth_url}/auth/v1/token?grant_type=password
apikey: {public client key}
Content-Type: application/json

{"email": "…", "password": "…"}</pre>
<p>Verify a webhook before you parse it: hex HMAC-SHA256 over the raw body, keyed with your <code>webhook_secret</code>, compared in constant time.</p>
<pre tabindex="0">const expected = createHmac('sha256', webhookSecret).update(rawBody).digest()
const given = Buffer.from(request.headers['x-service-signature'], 'hex')
const valid = given.length === expected.length &amp;&amp; timingSafeEqual(given, expected)</pre></section>`

function operationHtml(operation: Titled, { components }: OpenApiDocument): string {
  const { title, summary, description, parameters = [], requestBody, responses, security } = operation
  const credential = Object.keys(security[0] ?? {})[0]
  const needs = credential === 'apiKey' ? 'API key' : credential === 'session' ? 'session token' : 'no credential'
  const rows = parameters.map(parameter => {
    const {
      name,
      in: where,
      required = false,
      description: text,
      schema = {},
    } = '$ref' in parameter ? components.parameters.IdempotencyKey : parameter
    return rowHtml(name, `${where}${required ? ', required' : ''}`, schema, text)
  })
  const body = requestBody?.content['application/json']
  const bodySchema = components.schemas[body?.schema?.$ref?.split('/').at(-1) ?? '']
  return `<article id="${anchor(operation.operationId)}"><h2><code>${escapeHtml(title)}</code></h2><p>${inlineHtml(summary)} <small>(${needs})</small></p>
  ${description ? `<p>${inlineHtml(description)}</p>` : ''}${tableHtml(rows)}
  ${body ? `<h3>Body</h3>${tableHtml(fieldRows(bodySchema))}${exampleHtml({ body })}` : ''}
  ${Object.entries(responses).map(goodHtml).join('')}${refusedHtml(responses)}</article>`
}

const tableHtml = (rows: string[]) => (rows.length > 0 ? `<table><tbody>${rows.join('')}</tbody></table>` : '')

const rowHtml = (name: string, where: string, schema: JsonSchema, text = String(schema.description ?? '')) =>
  `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(where)}</td><td>${escapeHtml(typeOf(schema))}</td><td>${inlineHtml(text)}</td></tr>`

function fieldRows(schema: JsonSchema | undefined): string[] {
  const required = Array.isArray(schema?.required) ? schema.required : []
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, JsonSchema>)
  return properties.map(([name, property]) => rowHtml(name, required.includes(name) ? 'required' : '', property))
}

function goodHtml([status, { description, content = {} }]: [string, Described['responses'][string]]): string {
  if (content['application/problem+json']) return ''
  return `<details><summary>${escapeHtml(status)} ${escapeHtml(description)}</summary>${exampleHtml(content)}</details>`
}

function refusedHtml(responses: Described['responses']): string {
  const codes = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}).map(
      code => `${escapeHtml(status)}&nbsp;<a href="/docs/errors#${escapeHtml(code)}"><code>${escapeHtml(code)}</code></a>`,
    ),
  )
  return codes.length > 0 ? `<p class="refused">Refused: ${codes.join(' · ')}</p>` : ''
}

function exampleHtml(content: Record<string, { example?: unknown }>): string {
  const [type, media] = Object.entries(content)[0] ?? []
  if (!type || media?.example === undefined) return ''
  const text = typeof media.example === 'string' ? media.example : JSON.stringify(media.example, null, 2)
  return `<pre tabindex="0" title="${escapeHtml(type)}">${escapeHtml(text)}</pre>`
}
