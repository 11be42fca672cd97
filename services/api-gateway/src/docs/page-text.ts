import type { JsonSchema } from '../openapi/schemas'

export const anchor = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-')

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

/** Backticks become code; everything else is text. */
export const inlineHtml = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** A schema's type in a few words. */
export function typeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map(typeOf).join(' or ')
  if (Array.isArray(schema.enum)) return schema.enum.join(', ')
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) ?? ''
  if (schema.format === 'date-time') return 'timestamp'
  return String(schema.format ?? schema.type ?? 'any')
}

/** The text of HTML that these pages are made of. */
export const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
