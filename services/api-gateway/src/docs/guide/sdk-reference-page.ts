import { anchor, escapeHtml, inlineHtml } from '../page-text'
import { code, type Section } from '../section'
import { sdkReference } from './artifacts/sdk-reference'

interface ReferenceExport {
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly signature?: string
  readonly members: readonly { readonly signature: string; readonly text: string }[]
}

const idOf = (door: string) => anchor(door.replace(/\W+/g, '-').replace(/^-/, ''))

/** The SDK, entry by entry. */
export const sdkReferenceSections: readonly Section[] = sdkReference.map(({ door, exports }) => ({
  id: idOf(door),
  title: door,
  html: `${code(`import { … } from '${door}'`)}${exports.map(one => exportHtml(one, idOf(door))).join('')}`,
}))

function exportHtml({ name, kind, text, signature, members }: ReferenceExport, door: string): string {
  const rows = members.map(member => `<tr><td><code>${escapeHtml(member.signature)}</code></td><td>${docstringHtml(member.text)}</td></tr>`)
  return `<article id="${door}-${name}"><h3><code>${escapeHtml(name)}</code> <small>${kind}</small></h3>${docstringHtml(text)}${
    signature ? code(signature) : ''
  }${rows.length > 0 ? `<table class="members"><tbody>${rows.join('')}</tbody></table>` : ''}</article>`
}

/** A docstring: paragraphs, and code between fences. */
function docstringHtml(text: string): string {
  const parts = text.split(/```(?:ts)?\n?/)
  return parts
    .map((part, n) => {
      if (n % 2 === 1) return code(part.trim())
      const paragraphs = part.split(/\n\s*\n/).filter(paragraph => paragraph.trim() !== '')
      return paragraphs.map(paragraph => `<p>${inlineHtml(paragraph.trim())}</p>`).join('')
    })
    .join('')
}
