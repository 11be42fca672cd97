import { escapeHtml } from './page-text'

/** A part of a page of the guide. */
export interface Section {
  id: string
  title: string
  html: string
}

/** Code as it is typed; it can be reached and scrolled by keyboard. */
export const code = (text: string): string => `<pre tabindex="0">${escapeHtml(text)}</pre>`

/** Languages of the programs and the ends of their files; the first is shown until another is chosen. */
export const languages = { TypeScript: 'ts', Python: 'py', PHP: 'php', Go: 'go' } as const
export type Language = keyof typeof languages

/** The same program in each language. */
export type Program = Record<Exclude<Language, 'Go'>, string> & { Go?: string }

/** A program under the name of its file, of which a page shows one language at a time. Tests take each out of the page and run it. */
export const program = (name: string, texts: Program): string =>
  Object.entries(texts)
    .map(([language, text]) => {
      const end = languages[language as Language]
      return `<figure class="${end}"><figcaption><code>${name}.${end}</code></figcaption>${code(text.trim())}</figure>`
    })
    .join('')

/** Commands of a shell. */
export const shell = (text: string): string => `<figure class="shell">${code(text)}</figure>`

/** Lines for a page of a shop. */
export const markup = (text: string): string => `<figure class="html">${code(text)}</figure>`

/** A name of the interface within text. */
export const c = (text: string): string => `<code>${text}</code>`

export const table = (head: string[], rows: string[][]): string => {
  const cells = (of: string[], tag: string) => `<tr>${of.map(cell => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table><thead>${cells(head, 'th')}</thead><tbody>${rows.map(row => cells(row, 'td')).join('')}</tbody></table>`
}
