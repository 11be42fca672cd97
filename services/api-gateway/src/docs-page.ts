import { type ErrorCode, errorTable } from '@ponte/contracts'
import type { OpenApiDocument } from './openapi/document'
import type { JsonSchema } from './openapi/schemas'

/** The pages for people: plain HTML of the document, without a script and without a request to anybody else. */

interface Described {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, unknown>[]
  parameters?: { name?: string; in?: string; required?: boolean; description?: string; schema?: JsonSchema; $ref?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, { description: string; content?: Record<string, { example?: unknown; examples?: Record<string, unknown> }> }>
}

export function docsPage(document: OpenApiDocument): string {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, ...(operation as Described) })),
  )
  const told = Object.entries(document.webhooks).map(([type, { post }]) => ({ title: type, ...(post as Described) }))
  const all = [...routes, ...told]
  const sections = document.tags.map(({ name, description }) => {
    const own = all.filter(({ tags }) => tags.includes(name))
    return `<section><h2 id="${anchor(name)}">${escapeHtml(name)}</h2><p>${escapeHtml(description)}</p>${own.map(operationHtml).join('')}</section>`
  })
  const links = document.tags.map(({ name }) => `<a href="#${anchor(name)}">${escapeHtml(name)}</a>`)
  const introduction = document.info.description.split('\n\n').map(paragraph => `<p>${inline(paragraph)}</p>`)
  return page(
    `${document.info.title} API`,
    `<header><h1>${escapeHtml(document.info.title)} API</h1><p>${escapeHtml(document.info.summary)}</p>${introduction.join('')}
    <nav>${[...links, '<a href="/docs/errors">Errors</a>', '<a href="/openapi.json">openapi.json</a>'].join(' · ')}</nav></header>${sections.join('')}`,
  )
}

/** One anchor for each code: `type` of a problem points here. */
export function errorsPage(): string {
  const rows = (Object.keys(errorTable) as ErrorCode[]).map(code => {
    const { status, title } = errorTable[code]
    return `<tr id="${code}"><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(title)}</td></tr>`
  })
  return page(
    'Ponte API: errors',
    `<header><h1>Errors</h1><p>Every error is <code>application/problem+json</code> (RFC 9457) with one of these codes; <code>detail</code> says what to do.</p>
    <nav><a href="/docs">All routes</a></nav></header>
    <table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}

const page = (title: string, body: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="stylesheet" href="/docs/style.css"></head><body><main>${body}</main></body></html>
`

function operationHtml(operation: Described & { title: string }): string {
  const { title, summary, description, parameters = [], requestBody, responses, security } = operation
  const credential = Object.keys(security[0] ?? {})[0]
  const needs = credential === 'apiKey' ? 'API key' : credential === 'session' ? 'session token' : 'no credential'
  const named = parameters.map(parameter => ({ ...parameter, name: parameter.name ?? parameter.$ref?.split('/').at(-1) ?? '' }))
  const rows = named.map(({ name, in: where, required, description: text, schema }) => {
    const hint = text ?? schema?.description ?? (Array.isArray(schema?.enum) ? schema.enum.join(', ') : '')
    return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(where ?? 'header')}${required ? ', required' : ''}</td><td>${inline(String(hint))}</td></tr>`
  })
  return `<article id="${anchor(operation.operationId)}"><h3><code>${escapeHtml(title)}</code></h3><p>${inline(summary)} <small>(${needs})</small></p>
  ${description ? `<p>${inline(description)}</p>` : ''}
  ${rows.length > 0 ? `<table><tbody>${rows.join('')}</tbody></table>` : ''}
  ${requestBody ? `<h4>Body</h4>${exampleHtml(requestBody.content)}` : ''}
  ${Object.entries(responses).map(responseHtml).join('')}</article>`
}

function responseHtml([status, { description, content }]: [string, Described['responses'][string]]): string {
  const codes = Object.keys(content?.['application/problem+json']?.examples ?? {})
  if (codes.length > 0) {
    const links = codes.map(code => `<a href="/docs/errors#${escapeHtml(code)}"><code>${escapeHtml(code)}</code></a>`)
    return `<p class="refused">${escapeHtml(status)} ${links.join(', ')}</p>`
  }
  return `<details><summary>${escapeHtml(status)} ${escapeHtml(description)}</summary>${content ? exampleHtml(content) : ''}</details>`
}

function exampleHtml(content: Record<string, { example?: unknown }>): string {
  const [type, media] = Object.entries(content)[0] ?? []
  if (!type || media?.example === undefined) return ''
  const text = typeof media.example === 'string' ? media.example : JSON.stringify(media.example, null, 2)
  return `<pre title="${escapeHtml(type)}">${escapeHtml(text)}</pre>`
}

const anchor = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
/** Backticks become code; everything else is text. */
const inline = (text: string) => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

export const docsStyle = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 56rem; margin: 0 auto; padding: 1.5rem; }
h2 { border-bottom: 1px solid; margin-top: 3rem; }
article { margin: 2rem 0; }
h3 { margin-bottom: 0; }
code, pre { font: 0.9em/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8885; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; }
tr:target { outline: 2px solid; }
summary { cursor: pointer; }
.refused { margin: 0.25rem 0; }
`
